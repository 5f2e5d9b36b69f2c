import { parseBody } from "#log/body";
import { FORMAT_VERSION, type StoredEntry } from "#log/entry";
import { originBody } from "./plan-start.ts";
import type { ForkPoint } from "#log/lineage/head";
import type { Digest } from "#log/ids";

const HEX_RUN = /[0-9a-f]{64,}/g;
const DIGEST_CHARS = 64;

/** A node's place, as far as the rule looks into it: stores name the log that holds it in ways of their own. */
export interface PlaceInSegment {
  readonly segment: number;
  readonly depth: number;
}

/** What a store looks up of a log that is erased. */
export interface EraseFacts<P extends PlaceInSegment> {
  /**
   * Those forked right from it: where each grows from, and how much of the log it may see. An erased one grows from the
   * `above` of its own plan, and counts only while others stand on it.
   */
  readonly forks: readonly { readonly point: P; readonly head: number }[];
  /** Its hide facts, and where the nodes are that they are about; null: gone. */
  readonly hides: readonly { readonly seq: number; readonly target: P | null }[];
  /** Whether the erased log itself holds a place. All others lie above it. */
  readonly isOwn: (place: P) => boolean;
  /** The same for all places of one segment of one log. */
  readonly segmentName: (place: P) => string;
  /** The place that a segment grew from; null at the root. */
  readonly ancestorOf: (place: P) => P | null;
}

/** What must stay of an erased log, besides its first entry. */
export interface ErasePlan<P extends PlaceInSegment> {
  /** The deepest node still inherited, for each segment with one. */
  readonly depths: ReadonlyMap<number, number>;
  /** The hide facts that a fork looks at. */
  readonly hides: ReadonlySet<number>;
  /** The deepest place above it that forks still reach through it; null: none, or it is not a fork. */
  readonly above: P | null;
}

/**
 * What forks stand on: the nodes they inherit, and the facts that hide those from them. Null: nobody stands on it. Only the
 * forks right below count: all that forks of forks inherit lies on the direct fork's path. Each segment is climbed once,
 * however many forks share it.
 */
export function planErase<P extends PlaceInSegment>(facts: EraseFacts<P>): ErasePlan<P> | null {
  if (facts.forks.length === 0) return null;
  const paths = new SharedPaths(facts);
  // A fork sees the hides up to its head: so forks and hides are taken in from the latest on.
  const forks = facts.forks.toSorted((a, b) => b.head - a.head);
  const hides = new Set<number>();
  let taken = 0;
  for (const { seq, target } of facts.hides.toSorted((a, b) => b.seq - a.seq)) {
    for (let fork = forks[taken]; fork !== undefined && fork.head >= seq; fork = forks[++taken])
      paths.add(fork.point);
    if (target !== null && paths.holds(target)) hides.add(seq);
  }
  for (const { point } of forks.slice(taken)) paths.add(point);
  return { depths: paths.ownDepths, hides, above: paths.above };
}

/** The union of paths to the root: how deep each segment lies on it. */
class SharedPaths<P extends PlaceInSegment> {
  readonly #facts: EraseFacts<P>;
  /** What lies above matters only to hides that are about it. */
  readonly #climbsAbove: boolean;
  readonly #deepest = new Map<string, number>();
  readonly ownDepths: Map<number, number> = new Map();
  above: P | null = null;

  constructor(facts: EraseFacts<P>) {
    this.#facts = facts;
    this.#climbsAbove = facts.hides.some(({ target }) => target !== null && !facts.isOwn(target));
  }

  add(end: P): void {
    const { isOwn, segmentName, ancestorOf } = this.#facts;
    for (let place: P | null = end; place !== null; place = ancestorOf(place)) {
      const own = isOwn(place);
      if (!own && place.depth > (this.above?.depth ?? -1)) this.above = place;
      if (!own && !this.#climbsAbove) return;
      const name = segmentName(place);
      if ((this.#deepest.get(name) ?? -1) >= place.depth) return; // and so is all that is above it
      this.#deepest.set(name, place.depth);
      if (own) this.ownDepths.set(place.segment, place.depth);
    }
  }

  holds(place: P): boolean {
    return (this.#deepest.get(this.#facts.segmentName(place)) ?? -1) >= place.depth;
  }
}

/** A fork's first entry once the fork was erased: where it came from, and nothing else it said. */
export function bareOrigin(first: StoredEntry, origin: ForkPoint): StoredEntry {
  return { ...first, v: FORMAT_VERSION, payload: parseBody(originBody(origin, {})).payload };
}

/** Those of the digests that a payload names. */
export function digestsNamed(payload: string, among: { has(digest: string): boolean }): readonly Digest[] {
  const named: Digest[] = [];
  for (const [run] of payload.matchAll(HEX_RUN)) {
    for (let index = 0; index + DIGEST_CHARS <= run.length; index++) {
      const digest = run.slice(index, index + DIGEST_CHARS);
      if (among.has(digest)) named.push(digest);
    }
  }
  return named;
}
