import type { Entry, SteerTime } from "#log/entry";
import type { ContentBlock } from "#log/message";

export interface Queued {
  readonly steer: string;
  readonly content: readonly ContentBlock[];
  /** What it waits for; null: only for a turn that can take it. */
  readonly when: SteerTime | null;
  /** The turn it is meant for, where one was named. */
  readonly turn: string | null;
  readonly acceptedAt: string;
  readonly seq: number;
}

/**
 * The seq up to which no accepted words wait: of the turn before the last one that delivered all it found, since what it
 * found was read after that. Starts of turns newest first; null when too few of them say so.
 */
export function deliveredBefore(starts: Iterable<Entry>): number | null {
  let last: number | null = null;
  for (const start of starts) {
    if (start.type !== "turn_start" || start.steers !== "delivered") continue;
    if (last !== null) return start.seq;
    last = start.seq;
  }
  return null;
}

/** Messages accepted during a turn and not yet delivered or cancelled, in the order they were accepted. */
export function queueOf(entries: Iterable<Entry>): readonly Queued[] {
  const queue = new Map<string, Queued>();
  const settled = new Set<string>();
  for (const entry of entries) {
    if (entry.type !== "steer") continue;
    if (entry.state !== "accepted") {
      // Delivery is final: a late second acceptance must not send the words twice.
      settled.add(entry.steer);
      queue.delete(entry.steer);
    } else if (!settled.has(entry.steer) && !queue.has(entry.steer)) {
      queue.set(entry.steer, {
        steer: entry.steer,
        content: entry.content ?? [],
        when: entry.when ?? null,
        turn: entry.turn ?? null,
        acceptedAt: entry.time,
        seq: entry.seq,
      });
    }
  }
  return [...queue.values()];
}
