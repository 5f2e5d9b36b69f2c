/** Which turns of a branch a session has to show, told from the log. */
import { expect, test } from "vitest";
import type { EntryBody } from "#log/entry";
import type { EntryId } from "#log/ids";
import { linkRecords } from "#log/projections/link-records";
import { compareTurns } from "#upstream/rules/transcript";
import { liveBranchEnd } from "#upstream/sessions/branch-end";
import { readSessionTurns } from "#upstream/sessions/branch-reads";
import { readFacts } from "#upstream/sessions/live-sessions";
import { aRig } from "../rig.ts";
import { spaceOf } from "#conversation/on-space";

const user = (text: string, id: string): EntryBody & { readonly id: string } => ({
  type: "message",
  id,
  message: { role: "user", content: [{ type: "text", text }] },
});
const reply = (text: string, id: string, stopReason = "endTurn"): EntryBody & { readonly id: string } => ({
  type: "message",
  id,
  message: { role: "assistant", content: [{ type: "text", text }], stopReason },
});
const link = (upstream: string, more: object = {}): EntryBody => ({
  type: "upstream_link",
  upstream,
  agent: "claude",
  reason: "forked",
  ...more,
});

/** A turn of the session `s`: its prompt, how it was sent and how it ended; `more` is said of its attempt. */
const turn = (name: string, more: object = {}, by: string = "s"): readonly EntryBody[] => [
  user(`${name}?`, name),
  { type: "turn_start", turn: name, prompt: name },
  { type: "attempt", turn: name, upstream: by, fidelity: "native", ...more },
  reply(`${name}!`, `${name}-end`),
  {
    type: "turn_end",
    turn: name,
    outcome: "completed",
    class: "completed",
    upstream: by,
    node: `${name}-end`,
  },
];

/** What the session has to show, oldest first: `+` inherited, `(…)` told again later, `>` told with a preamble. */
async function carried(...bodies: readonly EntryBody[]): Promise<readonly string[]> {
  const rig = await aRig();
  const chat = await rig.holdfast.conversation("c");
  for (const body of bodies) await chat.append(body);
  const { id } = chat;
  const space = spaceOf(chat);
  const facts = await readFacts(space, id);
  const record = linkRecords(facts).at(-1);
  if (record === undefined) throw new RangeError("A link is needed");
  const end = await liveBranchEnd(space, id).now();
  const turns = await readSessionTurns(space, id, { end, link: record, facts });
  // Whatever is to be looked for, one that shows nothing of it holds nothing.
  if (turns.length > 0) expect(compareTurns([], turns).knownUpTo).toBeNull();
  return turns
    .map(({ request: asked, inherited, retold, hasContext: told, quoted }) => {
      const name = `${inherited ? "+" : ""}${told ? `${quoted ?? ""}>` : ""}${asked.text}`;
      return retold ? `(${name})` : name;
    })
    .toReversed();
}

const told = (from: string | null, more: object = {}): object => ({
  fidelity: "preamble",
  priorContext: { messages: 1, leftOut: 0, effects: 0, ...(from === null ? {} : { from }), ...more },
});

test("turns that a later one was told again need not be there, back to where it was told from", async () => {
  const first = [link("s"), ...turn("a"), ...turn("b")];
  expect(await carried(...first, ...turn("c"))).toEqual(["a?", "b?", "c?"]);
  expect(await carried(...first, ...turn("c", told("b")))).toEqual(["a?", "(b?)", "1>c?"]);
  expect(await carried(...first, ...turn("c", told("b-end")))).toEqual(["a?", "b?", "1>c?"]);
  expect(await carried(...first, ...turn("c", told("b-end", { leftOut: 1 })))).toEqual([
    "(a?)",
    "(b?)",
    "1>c?",
  ]);
  expect(await carried(...first, ...turn("c", told(null, { summary: true })))).toEqual([
    "(a?)",
    "(b?)",
    "1>c?",
  ]);
  // Nothing is known of how far back an attempt of before told.
  expect(await carried(...first, ...turn("c", { fidelity: "preamble" }))).toEqual(["a?", "b?", ">c?"]);
});

test("what a turn was told counts also when the session went on under another name, and not for another session", async () => {
  const [prompt, start] = turn("a");
  if (prompt === undefined || start === undefined) throw new RangeError("A turn has a prompt");
  const attempt = { type: "attempt", turn: "a", upstream: "s", ...told("x") } as EntryBody;
  const rolled = turn("a", {}, "s2").slice(-2);
  const renamed = link("s2", { reason: "renamed_by_upstream" });
  expect(await carried(prompt, start, link("s"), attempt, renamed, ...rolled)).toEqual(["1>a?"]);
  expect(await carried(prompt, start, link("s"), attempt, link("s2"), ...rolled)).toEqual(["a?"]);
});

test("what a session was made with comes before its turns, as the context has it, but for what it was told since", async () => {
  const history = [user("x", "x"), reply("y", "y"), user("z", "z"), reply("half", "h", "interrupted")];
  const made = link("s", { node: "h" });
  expect(await carried(...history, made)).toEqual(["+x", "+z"]);
  expect(await carried(...history, made, ...turn("a"))).toEqual(["+x", "+z", "a?"]);
  expect(await carried(...history, made, ...turn("a", told("z")))).toEqual(["+x", "1>a?"]);
  expect(await carried(...history, made, ...turn("a", told("z", { more: true })))).toEqual(["1>a?"]);
  const hidden = { type: "hide", target: "x" as EntryId } as const;
  expect(await carried(...history, hidden, made, ...turn("a"))).toEqual(["+z", "a?"]);
  const compaction = { type: "compaction", summary: "s", firstKeptEntryId: "z" as EntryId } as const;
  expect(await carried(...history, compaction, made, ...turn("a"))).toEqual(["+s", "+z", "a?"]);
  // What was said since is not what it was made with.
  expect(await carried(...history, made, user("later", "l"))).toEqual(["+x", "+z"]);
  // One that began empty was made with nothing.
  expect(await carried(...history, link("s"), ...turn("a", told("x")))).toEqual(["1>a?"]);
});

test("a reply that was cut off is not looked for in what a session was made with; its prompt is", async () => {
  const rig = await aRig();
  const chat = await rig.holdfast.conversation("c");
  await chat.append([user("x", "x"), reply("half", "h", "interrupted"), link("s", { node: "h" })]);
  const { id } = chat;
  const space = spaceOf(chat);
  const facts = await readFacts(space, id);
  const [record] = linkRecords(facts);
  if (record === undefined) throw new RangeError("A link is needed");
  const end = await liveBranchEnd(space, id).now();
  const turns = await readSessionTurns(space, id, { end, link: record, facts });
  expect(compareTurns([{ role: "user", text: "x" }], turns)).toEqual({ whole: true, knownUpTo: "h" });
  expect(compareTurns([], turns)).toEqual({ whole: true, knownUpTo: null });
});
