import type { EntryType } from "#log/entry";
import { targetOf } from "#log/entry-types";
import {
  emptyHead,
  type ForkPoint,
  type Head,
  type EntryPosition,
  type Place,
  placeEntry,
  type EntryToPlace,
} from "./head.ts";
import type { ConversationId, EntryId } from "#log/ids";
import { headFieldsOf } from "#log/plans/head-change";
import type { Summary } from "#log/summary";
import { SeqIndex, type SeqRequest } from "./seq-index.ts";

export interface IndexedEntry {
  readonly id: EntryId;
  readonly seq: number;
  readonly type: EntryType;
  readonly place: Place | null;
}

/** An entry as the log has it: where it stands, and by whom. */
export interface EntryToIndex extends EntryToPlace {
  readonly seq: number;
  readonly time: string;
  readonly byOwner: boolean;
}

interface SegmentIndex {
  readonly ancestor: Place | null;
  readonly startDepth: number;
  readonly nodes: IndexedEntry[];
  /** Depths of the nodes of each type but messages, rising: a latest one is found without walking. */
  readonly depthsByType: Map<EntryType, number[]>;
  /** The same for what lies above in this log: the latest node of each type, so that no segment is hopped over. */
  readonly above: ReadonlyMap<EntryType, IndexedEntry>;
  /** Where the line of segments leaves this log; null when it begins in it. */
  readonly source: Place | null;
}

/** A log's shape in memory: enough to place, find and page, never a body. Derived, so it may be thrown away. */
export class LogIndex {
  readonly entries: IndexedEntry[] = [];
  readonly #byId = new Map<EntryId, IndexedEntry>();
  readonly #segments: SegmentIndex[] = [];
  readonly #seqs = new SeqIndex();
  readonly #hides = new Map<EntryId, { seq: number; hidden: boolean }[]>();
  /** By a label the nodes that were ever given it, and since when; by a node the facts about its label. */
  readonly #labelled = new Map<string, Map<EntryId, number>>();
  readonly #labels = new Map<EntryId, number[]>();
  /** The ids of nodes in their own order, as far as someone has asked. */
  #sorted: { readonly ids: EntryId[]; entries: number } = { ids: [], entries: 0 };
  #head: Head;

  constructor(conversation: ConversationId, origin: ForkPoint | null, time: string) {
    this.#head = emptyHead(conversation, origin, time);
  }

  get head(): Head {
    return this.#head;
  }

  setEpoch(epoch: number): void {
    this.#head = { ...this.#head, epoch };
  }

  setLinks({ link, ownerLink }: Pick<Head, "link" | "ownerLink">): void {
    this.#head = { ...this.#head, link, ownerLink };
  }

  /** What its appends kept of it; null: not counted. */
  setSummary(summary: Summary | null): void {
    this.#head = { ...this.#head, summary };
  }

  /** Forgets what only an erased conversation itself had. Places stay: the forks' own indexes name them. */
  trim(seqs: ReadonlySet<number>, origin: ForkPoint | null): void {
    this.#head = {
      ...this.#head,
      title: null,
      cwd: null,
      origin,
      link: null,
      ownerLink: null,
      summary: null,
    };
    let count = 0;
    for (const entry of this.entries) if (seqs.has(entry.seq)) this.entries[count++] = entry;
    this.entries.length = count;
    this.#seqs.clear();
    this.#labelled.clear();
    this.#labels.clear();
    this.#sorted = { ids: [], entries: 0 };
    for (const entry of this.entries) this.#seqs.add(entry);
  }

  /** Takes an entry in; `find` also answers for what the conversation inherits. */
  apply(entry: EntryToIndex, find: (id: EntryId) => EntryPosition | undefined): IndexedEntry {
    const { tip, place, opened } = placeEntry(this.#head, entry, find);
    const indexed: IndexedEntry = { id: entry.id, seq: entry.seq, type: entry.type, place };
    if (opened !== null) this.#openSegment(opened.ancestor);
    if (place !== null) this.#addNode(indexed, place);
    if (entry.type === "hide") this.#addHide(entry);
    if (entry.type === "label") this.#addLabel(entry);
    this.entries.push(indexed);
    this.#seqs.add(indexed);
    this.#byId.set(entry.id, indexed);
    this.#head = {
      ...this.#head,
      ...tip,
      ...headFieldsOf(entry.type, entry.body),
      headSeq: entry.seq,
      ownerSeq: entry.byOwner ? entry.seq : this.#head.ownerSeq,
      updatedAt: entry.time,
    };
    return indexed;
  }

  #openSegment(ancestor: Place | null): void {
    const startDepth = ancestor === null ? 0 : ancestor.depth + 1;
    const own = ancestor?.conversation === this.#head.conversation;
    const parent = ancestor === null || !own ? undefined : this.#segments[ancestor.segment - 1];
    const above =
      ancestor === null || parent === undefined ? NONE_ABOVE : latestOfEach(parent, ancestor.depth);
    const source = parent === undefined ? ancestor : parent.source;
    this.#segments.push({ ancestor, startDepth, nodes: [], depthsByType: new Map(), above, source });
  }

  /** Up to `limit` seqs: see `SeqIndex`. */
  seqs(request: SeqRequest): readonly number[] {
    return this.#seqs.find(request, this.entries);
  }

  #addNode(indexed: IndexedEntry, place: Place): void {
    const segment = this.#segments[place.segment - 1];
    if (segment === undefined) return;
    segment.nodes.push(indexed);
    if (indexed.type === "message") return;
    const depths = segment.depthsByType.get(indexed.type);
    if (depths === undefined) segment.depthsByType.set(indexed.type, [place.depth]);
    else depths.push(place.depth);
  }

  #addHide(entry: EntryToIndex): void {
    const target = targetOf(entry.type, entry.body);
    if (target === null) return;
    const changes = this.#hides.get(target) ?? [];
    changes.push({ seq: entry.seq, hidden: entry.body["hidden"] !== false });
    this.#hides.set(target, changes);
  }

  #addLabel(entry: EntryToIndex): void {
    const target = targetOf(entry.type, entry.body);
    const label = entry.body["label"];
    if (target === null) return;
    const facts = this.#labels.get(target);
    if (facts === undefined) this.#labels.set(target, [entry.seq]);
    else facts.push(entry.seq);
    if (typeof label !== "string") return;
    const nodes = this.#labelled.get(label);
    if (nodes === undefined) this.#labelled.set(label, new Map([[target, entry.seq]]));
    else if (!nodes.has(target)) nodes.set(target, entry.seq);
  }

  /** The nodes with a label of this log up to a seq, and the seqs of the entries that label them. */
  nodesLabelled(label: string, upTo: number): readonly EntryId[] {
    const nodes = this.#labelled.get(label) ?? [];
    return [...nodes].flatMap(([node, seq]) => (seq <= upTo ? [node] : []));
  }

  labelsOf(node: EntryId): readonly number[] {
    return this.#labels.get(node) ?? [];
  }

  /** The nodes whose id starts so, by id. Ids that rise, as ours do, cost nothing to keep in order. */
  *idsStarting(prefix: string): Generator<EntryId> {
    const ids = this.#sortedIds();
    let [low, high] = [0, ids.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ids[middle] ?? "") < prefix) low = middle + 1;
      else high = middle;
    }
    for (let id = ids[low]; id?.startsWith(prefix) === true; id = ids[++low]) yield id;
  }

  #sortedIds(): readonly EntryId[] {
    const { ids } = this.#sorted;
    let rising = true;
    for (; this.#sorted.entries < this.entries.length; this.#sorted.entries++) {
      const entry = this.entries[this.#sorted.entries];
      if (entry === undefined || entry.place === null) continue;
      rising &&= entry.id > (ids.at(-1) ?? "");
      ids.push(entry.id);
    }
    if (!rising) ids.sort();
    return ids;
  }

  get(id: EntryId): IndexedEntry | undefined {
    return this.#byId.get(id);
  }

  /** What this log itself holds under the id. */
  find(id: EntryId): EntryPosition | undefined {
    const entry = this.#byId.get(id);
    if (entry === undefined) return undefined;
    const { place } = entry;
    const segment = place === null ? undefined : this.#segments[place.segment - 1];
    return { id, place, tip: segment?.nodes.at(-1) === entry };
  }

  entryAt(place: Place): IndexedEntry | undefined {
    const segment = this.#segments[place.segment - 1];
    return segment?.nodes[place.depth - segment.startDepth];
  }

  ancestorOf(segment: number): Place | null {
    return this.#segments[segment - 1]?.ancestor ?? null;
  }

  startOf(segment: number): number {
    return this.#segments[segment - 1]?.startDepth ?? 0;
  }

  /** The latest node of a type up to a place, as far as the branch lies in this log. */
  latestSetting(type: EntryType, place: Place): IndexedEntry | undefined {
    const segment = this.#segments[place.segment - 1];
    return segment === undefined
      ? undefined
      : (latestIn(segment, type, place.depth) ?? segment.above.get(type));
  }

  /** Where a branch through this segment comes from another log; null when it begins in this one. */
  sourceOf(segment: number): Place | null {
    return this.#segments[segment - 1]?.source ?? null;
  }

  /** The hide facts, by the nodes they are about. */
  get hideFacts(): readonly { readonly seq: number; readonly target: EntryId }[] {
    return [...this.#hides].flatMap(([target, changes]) => changes.map(({ seq }) => ({ seq, target })));
  }

  /** Whether the log says of any entry that it is hidden or not. */
  get hides(): boolean {
    return this.#hides.size > 0;
  }

  /** Whether the log, up to a seq, says that the entry is hidden; undefined when it says nothing. */
  hidden(id: EntryId, upTo: number): boolean | undefined {
    return this.#hides.get(id)?.findLast((change) => change.seq <= upTo)?.hidden;
  }
}

const NONE_ABOVE: ReadonlyMap<EntryType, IndexedEntry> = new Map();

function latestIn(segment: SegmentIndex, type: EntryType, upTo: number): IndexedEntry | undefined {
  const depth = segment.depthsByType.get(type)?.findLast((level) => level <= upTo);
  return depth === undefined ? undefined : segment.nodes[depth - segment.startDepth];
}

/** The latest node of each type at a depth of a segment; what nothing is added to is shared. */
function latestOfEach(segment: SegmentIndex, depth: number): ReadonlyMap<EntryType, IndexedEntry> {
  const own = [...segment.depthsByType.keys()].flatMap((type): (readonly [EntryType, IndexedEntry])[] => {
    const latest = latestIn(segment, type, depth);
    return latest === undefined ? [] : [[type, latest]];
  });
  return own.length === 0 ? segment.above : new Map([...segment.above, ...own]);
}
