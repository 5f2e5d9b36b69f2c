import { parseBody } from "#log/body";
import { FORMAT_VERSION, type StoredEntry } from "#log/entry";
import { type Lineage, pageBack } from "#log/lineage/lineage";
import { originBody } from "./plan-start.ts";
import type { ForkPoint } from "#log/lineage/head";
import type { Digest } from "#log/ids";
import type { LogIndex } from "#log/lineage/log-index";

const HEX_RUN = /[0-9a-f]{64,}/g;
const DIGEST_CHARS = 64;

/** A conversation that was forked right from the erased one, with everything above it. */
export interface DirectFork {
  readonly origin: ForkPoint;
  readonly lineage: Lineage;
}

/** What must stay of an erased conversation. */
export interface Needed {
  readonly seqs: ReadonlySet<number>;
  /** For one that was itself a fork: its origin, pointing no deeper than its forks look. */
  readonly origin: ForkPoint | null;
}

/**
 * What forks stand on: the nodes they inherit, the facts that hide nodes from them, and the log's first entry. Null:
 * nobody stands on it. Forks of forks need nothing besides, since all they inherit lies on the direct fork's path; an
 * erased direct fork counts with the origin that its own erase left it.
 */
export function neededByForks(erased: LogIndex, forks: readonly DirectFork[]): Needed | null {
  if (forks.length === 0) return null;
  const { conversation, origin } = erased.head;
  const seqs = new Set<number>([1]);
  let deepest: ForkPoint | null = null;
  for (const fork of forks) {
    for (const node of pageBack(fork.lineage, fork.origin, Number.POSITIVE_INFINITY).nodes) {
      for (const seq of erased.hidesOf(node.id)) if (seq <= fork.origin.head) seqs.add(seq);
      if (node.conversation === conversation) seqs.add(node.seq);
      else if (origin !== null && node.place.depth > (deepest?.depth ?? -1))
        deepest = { ...node.place, source: origin.source, entry: node.id, head: origin.head };
    }
  }
  return { seqs, origin: deepest };
}

/** A fork's first entry once the fork was erased: where it came from, and nothing else it said. */
export function bareOrigin(first: StoredEntry, origin: ForkPoint): StoredEntry {
  return { ...first, v: FORMAT_VERSION, payload: parseBody(originBody(origin, undefined)).payload };
}

/** Those of the digests that a payload names. */
export function digestsNamed(payload: string, among: { has(digest: string): boolean }): readonly Digest[] {
  const named: Digest[] = [];
  for (const [run] of payload.matchAll(HEX_RUN)) {
    for (let at = 0; at + DIGEST_CHARS <= run.length; at++) {
      const digest = run.slice(at, at + DIGEST_CHARS);
      if (among.has(digest)) named.push(digest);
    }
  }
  return named;
}
