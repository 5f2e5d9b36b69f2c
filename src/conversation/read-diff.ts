import type { Entry } from "#log/entry";
import { LogError } from "#log/errors";
import { type ConversationId, type EntryId, parseConversationId, parseEntryId } from "#log/ids";
import { type CommonStart, commonStart } from "#log/diff/common-start";
import { type BranchDiff, diffBranches } from "#log/diff/diff-branches";
import { DIFF_FACTS } from "#log/diff/diff-turns";
import { type BranchEnd, branchPages, sharedDepth } from "./branch-pages.ts";
import type { Holdfast } from "./holdfast.ts";
import { spaceOf } from "./on-space.ts";

/** A branch to compare: of a conversation, up to an entry, or to the leaf. */
export interface BranchToCompare {
  readonly conversation: string;
  readonly at?: string;
}

/** Two branches compared, and from where on. */
export interface ComparedBranches extends BranchDiff {
  readonly start: Pick<CommonStart, "kind"> & {
    /** The last entry of each before what is compared; null: it is compared from its first. */
    readonly a: EntryId | null;
    readonly b: EntryId | null;
  };
}

export interface CompareOptions {
  /** Calls alone are compared, by name, arguments and order. */
  readonly toolsOnly?: boolean;
}

/**
 * Compares branches with one, each from the last node that all of them share; where one shares none, all from the same
 * start of theirs. What lies before is not read where they share nodes.
 */
export async function readDiff(
  holdfast: Holdfast,
  one: BranchToCompare,
  others: readonly BranchToCompare[],
  options: CompareOptions = {},
): Promise<readonly ComparedBranches[]> {
  if (others.length === 0) return [];
  const end = await endOf(holdfast, one);
  const ends = await Promise.all(others.map((other) => endOf(holdfast, other)));
  const shared: number[] = [];
  for (const other of ends) shared.push(await sharedDepth(holdfast, end, other));
  const from = Math.max(0, Math.min(...shared) + 1);
  const a = await readNodes(holdfast, end, from);
  const aFacts = await readFacts(holdfast, end, from);
  const rules = { msOf: Date.parse, ...options };
  const branches = await Promise.all(ends.map((other) => readNodes(holdfast, other, from)));
  const starts = sameStarts(branches.map((b, at) => startOf({ a, b, from, shared: shared[at] ?? -1 })));
  const compared: ComparedBranches[] = [];
  for (const [at, b] of branches.entries()) {
    const start = starts[at] ?? { kind: "starts", a: 0, b: 0 };
    const other = ends[at] ?? end;
    const diff = diffBranches(
      { nodes: a.slice(start.a), facts: aFacts },
      { nodes: b.slice(start.b), facts: await readFacts(holdfast, other, from) },
      rules,
    );
    const ids =
      from > 0
        ? [await idAt(holdfast, end, from - 1), await idAt(holdfast, other, from - 1)]
        : [a[start.a - 1]?.id, b[start.b - 1]?.id];
    compared.push({ ...diff, start: { kind: start.kind, a: ids[0] ?? null, b: ids[1] ?? null } });
  }
  return compared;
}

async function endOf(holdfast: Holdfast, { conversation: id, at }: BranchToCompare): Promise<BranchEnd> {
  const conversation: ConversationId = parseConversationId(id);
  if (at === undefined) return { conversation, end: (await holdfast.handle(conversation).head()).leaf };
  const { place } = await spaceOf(holdfast).entry(conversation, parseEntryId(at));
  if (place !== null) return { conversation, end: place };
  throw new LogError(
    "unknown_target",
    `Entry ${at} is an annotation, such as a label, and not on a branch. Use the id of a message.`,
    { target: at },
  );
}

async function readNodes(
  holdfast: Holdfast,
  { conversation, end }: BranchEnd,
  from: number,
): Promise<readonly Entry[]> {
  const nodes: Entry[] = [];
  for await (const page of branchPages(holdfast.handle(conversation), end, from))
    for (const entry of page) nodes.push(entry);
  return nodes;
}

/** What it inherited is read only where a part of that is compared. */
async function readFacts(
  holdfast: Holdfast,
  { conversation }: BranchEnd,
  from: number,
): Promise<readonly Entry[]> {
  const log = holdfast.handle(conversation);
  const own = await log.facts(DIFF_FACTS);
  const { origin } = await log.head();
  if (origin === null || origin.depth < from) return own;
  return [...(await log.inheritedFacts(DIFF_FACTS)), ...own];
}

async function idAt(
  holdfast: Holdfast,
  { conversation, end }: BranchEnd,
  depth: number,
): Promise<EntryId | undefined> {
  return (await spaceOf(holdfast).page({ conversation, from: end, depth, limit: 1 })).entries[0]?.id;
}

/** `a` and `b` begin at the depth `from`. */
function startOf(pair: {
  readonly a: readonly Entry[];
  readonly b: readonly Entry[];
  readonly from: number;
  readonly shared: number;
}): CommonStart {
  const { a, b, from, shared } = pair;
  if (shared === -1) return commonStart(a, b);
  return { kind: "ancestor", a: shared + 1 - from, b: shared + 1 - from };
}

/** One column of figures stands for A, so all are compared from one place in it. */
function sameStarts(starts: readonly CommonStart[]): readonly CommonStart[] {
  const [first] = starts;
  if (starts.every(({ a }) => a === first?.a)) return starts;
  if (starts.every(({ kind }) => kind === "ancestor"))
    return starts.map(({ kind }) => ({ kind, a: 0, b: 0 }));
  return starts.map(() => ({ kind: "starts", a: 0, b: 0 }));
}
