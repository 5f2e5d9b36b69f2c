import { monitorEventLoopDelay } from "node:perf_hooks";
import { BareReader } from "./bare.ts";
import type { Row } from "./report.ts";
import { type Timing, timingOf } from "./sample.ts";
import { openShaped, SHAPES, type Shaped, sizesOf } from "./shapes.ts";
import { sizeText, type Stage } from "./stage.ts";

const PAUSE_MS_MAX = 10; // what a host that streams tokens can do without

interface WholeRead {
  readonly name: string;
  readonly run: (at: Shaped) => Promise<unknown>;
  /** It gives all that it reads, and a bare reader holds as much: the garbage collector pauses for either. */
  readonly givesAll?: true;
}

const READS: readonly WholeRead[] = [
  { name: "branch()", run: ({ conversation }) => conversation.branch(), givesAll: true },
  { name: "tree()", run: ({ conversation }) => conversation.tree(), givesAll: true },
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
  read: WholeRead,
  { store, size }: { readonly store: "sqlite" | "jsonl"; readonly size: number },
): Promise<readonly Row[]> {
  const found: { name: string; ours: Paused; bare: Paused | null }[] = [];
  for (const shape of SHAPES.filter((each) => sizesOf(stage, store, each).includes(size))) {
    const at = await openShaped(stage, store, shape, { size });
    await at.conversation.head(); // JSONL: once opened
    const rounds = size > 100_000 ? 1 : 3;
    const ours = await paused(rounds, () => read.run(at));
    const isBare = store === "sqlite" && read.givesAll === true;
    const bare = isBare ? await paused(rounds, () => bareNodes(at.path)) : null;
    await at.holdfast.close();
    found.push({ name: shape.name, ours, bare });
  }
  const [worst] = found.toSorted((a, b) => b.ours.pauseMs - a.ours.pauseMs);
  if (worst === undefined) return [];
  const { name, ours, bare } = worst;
  const byHand =
    bare === null || bare.pauseMs <= PAUSE_MS_MAX ? null : `${bare.pauseMs.toFixed(0)} ms by hand`;
  const row: Row = {
    work: `${store} longest pause during ${read.name}, ${sizeText(size)} entries, ${name}`,
    against: bare === null ? "-" : "SELECT + JSON.parse, 512 rows a turn",
    value: ours.pauseMs,
    unit: "ms",
    budget: { atMost: PAUSE_MS_MAX, ...(byHand === null ? {} : { unless: byHand }) },
    ours: ours.timing,
    theirs: bare?.timing ?? null,
    note: found.map((each) => `${each.name} ${pauseText(each.ours)}${besideText(each.bare)}`).join(", "),
  };
  return [row];
}

function pauseText({ pauseMs, timing }: Paused): string {
  return `${pauseMs.toFixed(0)} of ${timing.medianMs.toFixed(0)} ms`;
}

function besideText(bare: Paused | null): string {
  return bare === null ? "" : ` (by hand ${pauseText(bare)})`;
}

interface Paused {
  /** The longest time in which the event loop did not turn, in the middle one of the rounds. */
  readonly pauseMs: number;
  readonly timing: Timing;
}

async function paused(rounds: number, work: () => Promise<unknown>): Promise<Paused> {
  const [times, pauses]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
    await new Promise((done) => setTimeout(done, 3));
    delay.disable();
    pauses.push(delay.max / 1e6);
  }
  return { pauseMs: timingOf(pauses).medianMs, timing: timingOf(times) };
}

const ROWS_AT_ONCE = 512;
const NODES = `SELECT v, id, seq, parent, time, type, payload FROM entries
  WHERE conversation = 1 AND seq > ? AND segment IS NOT NULL ORDER BY seq LIMIT ${ROWS_AT_ONCE}`;
type NodeRow = readonly [
  v: number,
  id: string,
  seq: number,
  parent: string,
  time: string,
  type: string,
  payload: string,
];

/** All nodes of the one log of a file with their exact texts, and the event loop turns as often as it does for us. */
async function bareNodes(path: string): Promise<readonly unknown[]> {
  using reader = new BareReader(path);
  const select = reader.arrays(NODES);
  const nodes: object[] = [];
  for (let after = 0; ;) {
    const rows = select.all(after) as unknown as readonly NodeRow[];
    for (const [v, id, seq, parentId, time, type, payload] of rows)
      nodes.push(Object.assign(JSON.parse(payload) as object, { v, id, seq, parentId, time, type, payload }));
    if (rows.length < ROWS_AT_ONCE) return nodes;
    after = rows.at(-1)?.[2] ?? after;
    await new Promise((turned) => setImmediate(turned));
  }
}
