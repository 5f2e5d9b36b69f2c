import type { TreeNode } from "#edges/http/client/views";
import { type NestedNode, nestNodes, type TreeFilter } from "#log/lineage/tree-filter";
import { type LaneClass, LaneState, type RowLanes } from "./lanes/lane-state.ts";

/** A conversation that grew out of a node: a fork, or a replay. */
export interface ForkMark {
  readonly conversation: string;
  readonly entry: string;
  readonly title: string;
  readonly isReplay: boolean;
  readonly about: string;
}

/** A session that carries on from here, and why. */
export interface CarryMark {
  readonly place: number;
  readonly reason: string;
}

interface RowPlace {
  readonly key: string;
  readonly lanes: RowLanes;
  /** How many branches lie between it and the root. */
  readonly lane: number;
}

export type TreeRow = RowPlace &
  (
    | {
        readonly kind: "node";
        readonly node: TreeNode;
        readonly carry: CarryMark | null;
        readonly sibling: string | null;
      }
    | {
        readonly kind: "fold";
        readonly count: number;
        readonly what: "entries" | "branches";
        readonly isOpen: boolean;
      }
    | { readonly kind: "fork"; readonly fork: ForkMark }
  );

export interface TreeWanted {
  readonly filter: TreeFilter;
  /** Folds that were opened, by their keys; `all`: every one. */
  readonly open: ReadonlySet<string>;
  /** Nodes that may not lie in a fold. */
  readonly seen: readonly string[];
  readonly forks: readonly ForkMark[];
  readonly carries: ReadonlyMap<string, CarryMark>;
  /** The colour of the line that leads to a node. */
  readonly classOf: (id: string) => LaneClass;
}

const RUN_MIN = 4; // shorter ones take as much room as what would stand for them
const SIDES_MAX = 12;
const SIDES_SHOWN = 6;
const PROMPTS_MAX = 100; // in a tree with more, prompts and last answers are folded as all else

type Shown = NestedNode<TreeNode>;

/** A tree as rows: branches that were left first, each a lane further in; the way that goes on last, in the lane of what it follows. */
class TreeLayout {
  readonly rows: TreeRow[] = [];
  readonly #byId: ReadonlyMap<string, Shown>;
  readonly #wanted: TreeWanted;
  readonly #lanes = new LaneState();
  readonly #forks = new Map<string, ForkMark[]>();
  /** Nodes that are to be seen, and all above them. */
  readonly #seen = new Set<string>();
  readonly #keepsPrompts: boolean;

  constructor(nodes: readonly TreeNode[], wanted: TreeWanted) {
    this.#wanted = wanted;
    const shown = nestNodes(nodes, wanted.filter);
    this.#byId = new Map(shown.map((one) => [one.node.id, one]));
    this.#keepsPrompts = shown.filter(({ node }) => node.treeKind === "prompt").length <= PROMPTS_MAX;
    const parents = new Map(nodes.map(({ id, parentId }) => [id, parentId]));
    for (const fork of wanted.forks) this.#attach(fork, parents);
    for (const id of wanted.seen)
      for (let at: string | null = id; at !== null && !this.#seen.has(at); at = parents.get(at) ?? null)
        this.#seen.add(at);
    this.#layOut(shown.flatMap(({ node, parent }) => (parent === null ? [node.id] : [])));
  }

  #attach(fork: ForkMark, parents: ReadonlyMap<string, string | null>): void {
    let at: string | null = fork.entry;
    while (at !== null && !this.#byId.has(at)) at = parents.get(at) ?? null;
    if (at !== null) this.#forks.set(at, [...(this.#forks.get(at) ?? []), fork]);
  }

  /** Depth first without recursion: branches may be nested as deep as there are entries. */
  #layOut(roots: readonly string[]): void {
    const waiting = roots.map((id) => ({ id, lane: 0, isSide: false })).toReversed();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (next.id.startsWith(MORE)) {
        this.#addMore(next.id.slice(MORE.length), next.lane);
        continue;
      }
      const end = this.#addRun(next.id, next.lane, next.isSide);
      const { children } = end;
      const through = children.find((id) => this.#byId.get(id)?.node.active === true) ?? children.at(-1);
      if (through !== undefined) waiting.push({ id: through, lane: next.lane, isSide: false });
      const sides = this.#sidesShown(
        end.node.id,
        children.filter((id) => id !== through),
      );
      for (const id of sides.toReversed()) waiting.push({ id, lane: next.lane + 1, isSide: true });
    }
  }

  #sidesShown(parent: string, sides: readonly string[]): readonly string[] {
    if (sides.length <= SIDES_MAX) return sides;
    const more = `${MORE}${parent}`;
    if (this.#isOpen(more)) return [more, ...sides];
    const newest = new Set(sides.slice(-SIDES_SHOWN));
    return [more, ...sides.filter((id) => newest.has(id) || this.#seen.has(id))];
  }

  #isOpen(key: string): boolean {
    return this.#wanted.open.has("all") || this.#wanted.open.has(key);
  }

  #addMore(parent: string, lane: number): void {
    const key = `${MORE}${parent}`;
    const children = this.#byId.get(parent)?.children.length ?? 0;
    const isOpen = this.#isOpen(key);
    const lanes = this.#lanes.aside(lane, "");
    this.rows.push({ kind: "fold", key, lane, lanes, count: children - 1, what: "branches", isOpen });
  }

  /** A node and those that follow it alone; gives the last of them. */
  #addRun(first: string, lane: number, isSide: boolean): Shown {
    const run: Shown[] = [];
    let at = this.#byId.get(first);
    while (at !== undefined) {
      run.push(at);
      if (at.children.length !== 1) break;
      at = this.#byId.get(at.children[0] ?? "");
    }
    let from = 0;
    while (from < run.length) {
      let until = from;
      while (until < run.length && this.#mayFold(run, until)) until++;
      if (until - from >= RUN_MIN) this.#addFold(run, from, until, lane);
      else {
        until = Math.max(until, from + 1);
        for (const one of run.slice(from, until)) this.#addNode(one, lane, isSide && one === run[0]);
      }
      from = until;
    }
    const last = run.at(-1);
    if (last === undefined) throw new Error(`There is no node ${first}`);
    return last;
  }

  #mayFold(run: readonly Shown[], at: number): boolean {
    const one = run[at];
    if (one === undefined || at === 0 || at === run.length - 1) return false;
    const { id, treeKind: kind, label, type } = one.node;
    const { filter, carries } = this.#wanted;
    const isLastWord = kind === "answer" && run[at + 1]?.node.treeKind === "prompt";
    return (
      (filter === "default" || filter === "no-tools" || filter === "all") &&
      label === null &&
      type !== "compaction" &&
      type !== "branch_summary" &&
      !((kind === "prompt" || isLastWord) && this.#keepsPrompts) &&
      !carries.has(id) &&
      !this.#forks.has(id)
    );
  }

  #addFold(run: readonly Shown[], from: number, until: number, lane: number): void {
    const stretch = run.slice(from, until);
    const key = `run ${stretch[0]?.node.id ?? ""}`;
    const isSeen = this.#wanted.seen.some((id) => stretch.some(({ node }) => node.id === id));
    const isOpen = isSeen || this.#isOpen(key);
    const { classOf } = this.#wanted;
    const [first, next] = [stretch[0]?.node.id ?? "", run[until]?.node.id ?? ""];
    const lanes = this.#lanes.through(lane, {
      up: classOf(first),
      down: classOf(isOpen ? first : next),
      isSide: false,
    });
    this.rows.push({ kind: "fold", key, lane, lanes, count: stretch.length, what: "entries", isOpen });
    if (isOpen) for (const one of stretch) this.#addNode(one, lane, false);
  }

  #addNode({ node, parent, children }: Shown, lane: number, isSide: boolean): void {
    const { classOf, carries } = this.#wanted;
    const through = children.find((id) => this.#byId.get(id)?.node.active === true) ?? children.at(-1);
    const forks = this.#forks.get(node.id) ?? [];
    const lanes = this.#lanes.through(lane, {
      up: parent === null ? null : classOf(node.id),
      down: through === undefined ? (forks.length > 0 ? "" : null) : classOf(through),
      isSide,
    });
    const carry = carries.get(node.id) ?? null;
    const sibling = this.#siblingText(node.id, parent);
    this.rows.push({ kind: "node", key: node.id, lane, lanes, node, carry, sibling });
    for (const [at, fork] of forks.entries()) {
      if (through === undefined && at === forks.length - 1) this.#lanes.end(lane);
      const beside = this.#lanes.aside(lane + 1, classOf(fork.conversation), fork.isReplay);
      this.rows.push({
        kind: "fork",
        key: `fork ${fork.conversation}`,
        lane: lane + 1,
        lanes: beside,
        fork,
      });
    }
  }

  #siblingText(id: string, parent: string | null): string | null {
    const beside = parent === null ? [] : (this.#byId.get(parent)?.children ?? []);
    if (beside.length < 2 || beside.length > SIDES_MAX) return null;
    return `${beside.indexOf(id) + 1}/${beside.length}`;
  }
}

const MORE = "more ";

export function treeRows(nodes: readonly TreeNode[], wanted: TreeWanted): readonly TreeRow[] {
  return new TreeLayout(nodes, wanted).rows;
}
