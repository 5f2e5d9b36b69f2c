import { setTimeout as pause } from "node:timers/promises";
import type { Holdfast } from "../src/conversation/holdfast.ts";
import { openHoldfast } from "../src/open.ts";
import { type Row, slower } from "./report.ts";
import { alternate } from "./sample.ts";
import type { Stage } from "./stage.ts";

const TAILS = 10_000;
const AT_ONCE = 500;
const WATCHED_SECONDS = 9;
const SETTLED_MS = 7_000; // a change before the measuring is looked into by every tail, some at a time

/** What ten thousand conversations with a tail each cost while nothing happens, and what they add to an append. */
export async function measureTails(stage: Stage): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const kind of ["sqlite", "jsonl", "memory"]) rows.push(...(await measureStore(kind, stage)));
  return rows;
}

async function measureStore(kind: string, stage: Stage): Promise<readonly Row[]> {
  const address = (name: string): string => (kind === "memory" ? "memory:" : `${kind}:${stage.path(name)}`);
  await using holdfast = await openHoldfast({ store: address(`tails-${kind}`) });
  await using still = await openHoldfast({ store: address(`no-tails-${kind}`) });
  const ids = await makeConversations(holdfast);
  await makeConversations(still);
  const [aside, alone] = [await holdfast.create({ id: "aside" }), await still.create({ id: "aside" })];
  const stop = new AbortController();
  const heard: Promise<void>[] = [];
  for (const id of ids)
    heard.push(drain((await holdfast.conversation(id)).tail({ after: 1, signal: stop.signal })));
  await pause(SETTLED_MS);
  const percent = await coreUsed();
  const times = await alternate(
    {
      ours: { run: () => aside.append({ type: "title", title: "x" }) },
      theirs: { run: () => alone.append({ type: "title", title: "x" }) },
    },
    stage.plan(1_000, 10_000),
  );
  stop.abort();
  await Promise.all(heard);
  return [
    {
      work: `${TAILS} idle tails, ${kind}`,
      against: "one core",
      value: percent,
      unit: "%",
      budget: { atMost: 5 },
      ours: null,
      theirs: null,
    },
    slower(`an append beside them, ${kind}`, "an append without", { ...times, budget: { atMost: 1.3 } }),
  ];
}

async function makeConversations(holdfast: Holdfast): Promise<readonly string[]> {
  const ids = Array.from({ length: TAILS }, (_, n) => `tailed-${n}`);
  for (let from = 0; from < TAILS; from += AT_ONCE)
    await Promise.all(ids.slice(from, from + AT_ONCE).map((id) => holdfast.create({ id })));
  return ids;
}

async function drain(tail: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of tail);
}

/**
 * Of one core, in percent, in the median second of a while in which nobody asks for anything: what the set-up left to
 * be done may fall into one of them.
 */
async function coreUsed(): Promise<number> {
  const percents: number[] = [];
  for (let second = 0; second < WATCHED_SECONDS; second++) {
    const before = process.cpuUsage();
    const started = performance.now();
    await pause(1_000);
    const { user, system } = process.cpuUsage(before);
    percents.push((user + system) / 10 / (performance.now() - started));
  }
  return percents.toSorted((one, other) => one - other)[WATCHED_SECONDS >> 1] ?? 0;
}
