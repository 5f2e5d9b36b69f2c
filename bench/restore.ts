import type { Conversation } from "../src/conversation/conversation.ts";
import { restore } from "../src/agent/restore.ts";
import { openHoldfast } from "../src/open.ts";
import type { EntryBody } from "../src/log/entry.ts";
import { BareReader } from "./bare.ts";
import { fill } from "./history.ts";
import { type Row, slower } from "./report.ts";
import { alternate } from "./sample.ts";
import { type Stage, TURN_CHARS } from "./stage.ts";

export const MESSAGES = 5_000;
const KEPT = 20;
const SETTINGS: readonly EntryBody[] = [
  { type: "model_change", model: "example-2", provider: "example" },
  {
    type: "config_change",
    config: { temperature: 0.2, tools: ["bash", "read", "write"], limits: { steps: 40 } },
  },
  {
    type: "skill_change",
    skills: Array.from({ length: 12 }, (_, n) => ({ name: `skill-${n}`, source: `skills/${n}.md` })),
  },
  { type: "state_change", state: { plan: ["read", "change", "check"], done: 2, notes: { open: true } } },
];

/** Bringing a long conversation back: every message word for word, with its settings. */
export async function measureRestore(stage: Stage): Promise<readonly Row[]> {
  const path = stage.path("restore.db");
  await using holdfast = await openHoldfast({ store: `sqlite:${path}` });
  const whole = await holdfast.create({ id: "whole" });
  const compacted = await holdfast.create({ id: "compacted" });
  await buildWhole(whole);
  await buildWhole(compacted);
  await compact(compacted);
  using bare = new BareReader(path);
  const row = bare.rowOf("whole");
  const { messages, skills } = await restore(whole);
  if (messages.length !== MESSAGES || skills.length === 0) throw new Error("The context is not whole");
  const held = await alternate(
    {
      ours: { run: () => heldForATurn(() => restore(whole)) },
      bare: { run: () => heldForATurn(() => bare.whole(row)) },
    },
    stage.plan(80, 15_000),
  );
  const times = await alternate(
    {
      ours: { run: () => restore(whole) },
      bare: { run: () => bare.whole(row) },
      compacted: { run: () => restore(compacted) },
    },
    stage.plan(80, 15_000),
  );
  const work = `restore of ${MESSAGES} messages with settings`;
  return [
    slower(work, "bare SELECT + JSON.parse", {
      ours: held.ours,
      theirs: held.bare,
      budget: { atMost: 1.3 },
    }),
    slower(`${work}, alone`, "the same, which never lets go of the thread", {
      ours: times.ours,
      theirs: times.bare,
    }),
    {
      work: `${work}, compacted`,
      against: "the clock",
      value: times.compacted.medianMs,
      unit: "ms",
      budget: { atMost: 10 },
      ours: times.compacted,
      theirs: null,
    },
  ];
}

/**
 * The engine collects garbage when the event loop turns. We let it turn while we read, a bare reader does not: alone, it
 * leaves what it made to be collected on our account. So both hold what they have read until the loop has turned.
 */
export async function heldForATurn<T>(read: () => T): Promise<Awaited<T>> {
  const result = await read();
  await new Promise((resolve) => setImmediate(resolve));
  return result;
}

export async function buildWhole(conversation: Conversation): Promise<void> {
  await conversation.append(SETTINGS);
  await fill(conversation, { messages: MESSAGES, chars: TURN_CHARS });
}

async function compact(conversation: Conversation): Promise<void> {
  const { messages } = await conversation.context();
  const firstKeptEntryId = messages.at(-KEPT)?.entryId ?? "";
  await conversation.append({ type: "compaction", summary: "What was said so far.", firstKeptEntryId });
}
