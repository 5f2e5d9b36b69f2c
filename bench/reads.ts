import { readSettings } from "../src/conversation/reading.ts";
import { readFacts } from "../src/upstream/sessions/live-sessions.ts";
import { readPriorContext } from "../src/upstream/read-prior.ts";
import { findEntry } from "../src/edges/cli/address.ts";
import { PRIOR_BUDGET } from "../src/upstream/rules/prior-budget.ts";
import type { Row } from "./report.ts";
import { alternate, type Side, type Timing, timingNamed } from "./sample.ts";
import { LABEL, openShaped, SHAPES, type Shaped, sizesOf } from "./shapes.ts";
import { sizeText, type Stage } from "./stage.ts";
import { spaceOf } from "../src/conversation/on-space.ts";

/** A read whose cost is bounded by what it answers. */
interface Read {
  readonly name: string;
  readonly run: (at: Shaped) => Promise<unknown>;
  /** Shapes in which what is asked for itself grows with the log. */
  readonly except?: readonly string[];
  /** Its window holds more than the smallest log does, and is full from this size on. */
  readonly fullFrom?: number;
}

/** Where nothing was compacted, the window is the log. */
const UNCOMPACTED = ["tools, uncompacted", "hidden, uncompacted", "custom, uncompacted"];
const JSONL_SHAPES: ReadonlySet<string> = new Set(["messages", "no models", "tools only", "turns", "forks"]);

const READS: readonly Read[] = [
  { name: "head()", run: ({ conversation }) => conversation.head() },
  { name: "entry()", run: ({ conversation, leaf }) => conversation.entry(leaf) },
  { name: "findAppend()", run: ({ conversation }) => conversation.findAppend("no such key") },
  { name: "context()", run: ({ conversation }) => conversation.context(), except: UNCOMPACTED },
  {
    name: "settings",
    fullFrom: 10_000, // the nearest 64 nodes: a log of 100 entries has 48 where most of them are facts
    run: async ({ conversation, holdfast }) =>
      readSettings(spaceOf(holdfast), conversation.id, (await conversation.head()).leaf),
  },
  {
    name: "facts of a send",
    run: ({ conversation, holdfast }) => readFacts(spaceOf(holdfast), conversation.id),
    fullFrom: 10_000,
  },
  {
    name: "prior context",
    fullFrom: 10_000,
    run: async ({ conversation, holdfast }) =>
      readPriorContext(spaceOf(holdfast), conversation.id, {
        from: (await conversation.head()).leaf,
        budget: PRIOR_BUDGET,
      }),
  },
  { name: "queue()", run: ({ conversation }) => conversation.queue() },
  // A list costs what it returns: nested forks are two conversations at 100 entries and a hundred and one at 100k.
  { name: "list()", run: ({ holdfast }) => spaceOf(holdfast).list({ limit: 20 }), except: ["forks"] },
  {
    name: "search in one, rare",
    run: ({ conversation, holdfast }) =>
      holdfast.search("xylophone", { conversation: conversation.id, limit: 20 }),
  },
  {
    name: "search in one, common",
    run: ({ conversation, holdfast }) => holdfast.search("the", { conversation: conversation.id, limit: 20 }),
  },
  { name: "search, common", run: ({ holdfast }) => holdfast.search("the", { limit: 20 }) },
  { name: "entry by prefix", run: ({ conversation, leaf }) => findEntry(conversation, leaf.slice(0, -2)) },
  {
    name: "entry by label",
    run: ({ conversation }) => findEntry(conversation, LABEL),
  },
];

/** The reads that a window bounds, in every awkward shape: what they cost must not follow the log. */
export async function measureReads(stage: Stage): Promise<readonly Row[]> {
  return [...(await measureStore(stage, "sqlite")), ...(await measureStore(stage, "jsonl"))];
}

async function measureStore(stage: Stage, store: "sqlite" | "jsonl"): Promise<readonly Row[]> {
  const taken = new Map<string, Timing>();
  const wanted = READS.filter(({ name }) => store === "sqlite" || !name.startsWith("search"));
  const shapes = SHAPES.filter(({ name }) => store === "sqlite" || JSONL_SHAPES.has(name));
  for (const shape of shapes) {
    const sizes = sizesOf(stage, store, shape);
    if (sizes.length < 2) continue;
    const shaped = await Promise.all(sizes.map((size) => openShaped(stage, store, shape, { size })));
    for (const read of wanted.filter(({ except = [] }) => !except.includes(shape.name))) {
      const sides: { [name: string]: Side } = {};
      for (const at of shaped) sides[`${read.name} ${shape.name} ${at.size}`] = { run: () => read.run(at) };
      const timings = await alternate(sides, stage.plan(200, 800));
      for (const name of Object.keys(sides)) taken.set(name, timingNamed(timings, name));
    }
    for (const { holdfast } of shaped) await holdfast.close();
  }
  return wanted.flatMap(({ name, fullFrom }) =>
    flatRows(stage, `${store} ${name}`, { find: (at) => taken.get(`${name} ${at}`), fullFrom }),
  );
}

/** For each size the shape that fares worst against its own smallest, or the smallest that fills the window. */
export function flatRows(
  stage: Stage,
  work: string,
  given: { readonly find: (at: string) => Timing | undefined; readonly fullFrom?: number | undefined },
): readonly Row[] {
  const [smallest = 0, ...larger] = stage.sizes.filter((size) => size >= (given.fullFrom ?? 0));
  return larger.flatMap((size): readonly Row[] => {
    const found = SHAPES.flatMap(({ name }) => {
      const [ours, theirs] = [given.find(`${name} ${size}`), given.find(`${name} ${smallest}`)];
      return ours && theirs ? [{ name, ours, theirs, value: ours.medianMs / theirs.medianMs }] : [];
    }).toSorted((a, b) => b.value - a.value);
    const [worst] = found;
    if (worst === undefined) return [];
    const row: Row = {
      work: `${work}, ${sizeText(size)} entries, ${worst.name}`,
      against: `ours at ${sizeText(smallest)} entries`,
      value: worst.value,
      unit: "x",
      budget: { atMost: 1.3 },
      ours: worst.ours,
      theirs: worst.theirs,
      note: found.map(({ name, value }) => `${name} ${value.toFixed(2)}`).join(", "),
    };
    return [row];
  });
}
