import type { EntryBody } from "#log/entry";
import {
  called,
  ended,
  intent,
  link,
  prompt,
  reply,
  result,
  text,
  timed,
  type Told,
  turn,
} from "../sample/told-entries.ts";

export const SAMPLE_TITLE = "Plan the party";
const BEGAN_MS = 4_300_000;

/** The entries of a conversation that has been through what there is: limits, crashes, sessions that end, two ways at one prompt. */
export function sampleEntries(nowMs: number): readonly EntryBody[] {
  return timed(STORY, nowMs - BEGAN_MS);
}

const [A, B, C, D] = [
  "sim-session-000002",
  "sim-session-000004",
  "sim-session-000009",
  "sim-session-000010",
] as const;
const CAKE = { to: "baker", about: "the lemon cake" };
const INVITATION = { to: "guests", about: "the invitation" };
const GUESTS = {
  path: "guests.md",
  old_string: "# Guests\n\n- Ada\n",
  new_string:
    "# Guests\n\n- Ada, guest of honour\n- the baker (brings the lemon cake)\n- the band, from eight\n",
};
const BUILT =
  "\u001B[2m> orchard-site build\u001B[0m\n\u001B[36mrender\u001B[0m  index.md  guests.md  invitation.md\n\u001B[1;33mwarning\u001B[0m invitation.md:4  no date is given\n\u001B[1;32mbuilt\u001B[0m   14 pages in 1.2 s";
const SUMMARY =
  "Guest of honour: Ada. Venue: the orchard. The lemon cake is ordered from the baker by email. Budget 900.";

const STORY: readonly Told[] = [
  prompt(
    "u1",
    "The guest of honour is **Ada**, and we meet in the orchard. Please order the lemon cake from the baker.",
  ),
  turn("t1", "u1"),
  link(A, "new"),
  { type: "attempt", turn: "t1", upstream: A, fidelity: "native" },
  reply(
    "a1",
    [
      { type: "thinking", thinking: "The cake can be ordered by email." },
      text("I will write to the baker."),
      called("c1", "send_email", CAKE),
    ],
    [412, 38],
  ),
  intent("c1", "send_email", CAKE),
  result("r1", "c1", "send_email", "sent to baker: the lemon cake"),
  reply(
    "a2",
    [text("The lemon cake is ordered. What else?\n\n- music\n- a list of guests\n- an invitation")],
    [148, 31, 412],
  ),
  ended("t1", A, "a2"),
  prompt("u2", "The budget is 900.", { after: 60 }),
  turn("t2", "u2"),
  { type: "attempt", turn: "t2", upstream: A },
  { type: "attempt_end", turn: "t2", upstream: A, class: "empty_answer" },
  link(B, "empty_answer"),
  {
    type: "attempt",
    turn: "t2",
    upstream: B,
    fidelity: "preamble",
    priorContext: { messages: 5, leftOut: 0, effects: 1 },
  },
  reply("a3", [text("Noted: 900 in all.")], [744, 12]),
  ended("t2", B, "a3"),
  { type: "compaction", id: "s1", summary: SUMMARY, firstKeptEntryId: "u2", tokensBefore: 27_940, after: 40 },
  prompt("u3", "Put the guests into `guests.md`.", { after: 20 }),
  turn("t3", "u3"),
  { type: "attempt", turn: "t3", upstream: B },
  reply("a4", [text("I could, but which guests?")], [57, 9, 744]),
  ended("t3", B, "a4"),
  prompt("u4", "Put the guests into `guests.md`, then check that the invitation page still builds.", {
    parentId: "s1",
    after: 30,
  }),
  { type: "label", target: "u4", label: "guest-list", after: 0 },
  turn("t4", "u4"),
  link(C, "rolled_by_upstream"),
  { type: "attempt", turn: "t4", upstream: C, fidelity: "native" },
  reply(
    "a5",
    [
      text("I will add the list and run the build."),
      called("c2", "edit", GUESTS),
      called("c3", "bash", { command: "npm run build" }),
    ],
    [1_103, 58, 801],
  ),
  intent("c2", "edit", GUESTS),
  result("r2", "c2", "edit", "guests.md was changed"),
  intent("c3", "bash", { command: "npm run build" }),
  result("r3", "c3", "bash", BUILT),
  reply(
    "a6",
    [
      text(
        'Done. The page builds, with one warning: the invitation has no date yet.\n\n```ts\nconst invitation = { date: null, place: "the orchard" };\n```',
      ),
    ],
    [486, 41, 1_904],
  ),
  ended("t4", C, "a6"),
  prompt("u5", "It is on Saturday. Email the guests about the invitation.", { after: 900 }),
  turn("t5", "u5"),
  { type: "attempt", turn: "t5", upstream: C },
  reply("a7", [called("c4", "send_email", INVITATION)], [122, 22, 2_390]),
  intent("c4", "send_email", INVITATION),
  { type: "attempt_end", turn: "t5", upstream: C, class: "crashed", after: 9 },
  { type: "turn_end", turn: "t5", outcome: "interrupted", class: "crashed", upstream: C, after: 0 },
  prompt("u6", "Who is the guest of honour, and did the guests get the invitation?", { after: 120 }),
  turn("t6", "u6"),
  { type: "upstream_end", upstream: C, reason: "Session expired: sim-session-000009", after: 0 },
  link(D, "expired"),
  {
    type: "attempt",
    turn: "t6",
    upstream: D,
    fidelity: "preamble",
    priorContext: { messages: 4, leftOut: 7, summary: true, effects: 4 },
  },
  reply(
    "a8",
    [
      text(
        "Ada is the guest of honour. I cannot tell whether the invitation went out, so I did not send it again. Look into the outbox, or tell me to send it.",
      ),
    ],
    [4_987, 47],
  ),
  ended("t6", D, "a8"),
];
