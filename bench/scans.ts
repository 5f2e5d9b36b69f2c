import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Row } from "./report.ts";
import { timingOf } from "./sample.ts";
import { openShaped, SHAPES, type Shaped, sizesOf } from "./shapes.ts";
import { sizeText, type Stage } from "./stage.ts";

const PAUSE_MS_MAX = 10; // what a host that streams tokens can do without

const READS: readonly { readonly name: string; readonly run: (at: Shaped) => Promise<unknown> }[] = [
  { name: "branch()", run: ({ conversation }) => conversation.branch() },
  { name: "tree()", run: ({ conversation }) => conversation.tree() },
  { name: "chain()", run: ({ conversation }) => conversation.chain() },
  { name: "effects()", run: ({ conversation }) => conversation.effects() },
  { name: "usage()", run: ({ conversation }) => conversation.usage() },
  { name: "runs()", run: ({ conversation }) => conversation.runs() },
  { name: "issues()", run: ({ conversation }) => conversation.issues() },
];

/** What reads the whole log takes its time; the event loop must not notice. */
export async function measureScans(stage: Stage): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const store of ["sqlite", "jsonl"] as const)
    for (const read of READS)
      for (const size of stage.sizes) rows.push(...(await measureScan(stage, read, { store, size })));
  return rows;
}

async function measureScan(
  stage: Stage,
  read: (typeof READS)[number],
  { store, size }: { readonly store: "sqlite" | "jsonl"; readonly size: number },
): Promise<readonly Row[]> {
  const found: { name: string; pauseMs: number; timing: ReturnType<typeof timingOf> }[] = [];
  for (const shape of SHAPES.filter((each) => sizesOf(stage, store, each).includes(size))) {
    const at = await openShaped(stage, store, shape, { size });
    await at.conversation.head(); // JSONL: once opened
    const rounds = size > 100_000 ? 1 : 3;
    const [times, pauses]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const started = performance.now();
      await read.run(at);
      times.push(performance.now() - started);
      await new Promise((done) => setTimeout(done, 3));
      delay.disable();
      pauses.push(delay.max / 1e6);
    }
    await at.holdfast.close();
    found.push({ name: shape.name, pauseMs: timingOf(pauses).medianMs, timing: timingOf(times) });
  }
  const [worst] = found.toSorted((a, b) => b.pauseMs - a.pauseMs);
  if (worst === undefined) return [];
  const row: Row = {
    work: `${store} longest pause during ${read.name}, ${sizeText(size)} entries, ${worst.name}`,
    against: "-",
    value: worst.pauseMs,
    unit: "ms",
    budget: { atMost: PAUSE_MS_MAX },
    ours: worst.timing,
    theirs: null,
    note: found
      .map(({ name, pauseMs, timing }) => `${name} ${pauseMs.toFixed(0)} of ${timing.medianMs.toFixed(0)} ms`)
      .join(", "),
  };
  return [row];
}
