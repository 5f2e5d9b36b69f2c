import { decodeEntry } from "#log/codec";
import type { ConversationId } from "#log/ids";
import type { SpaceStore } from "#store/facets";

/** Who said that they hold a conversation, and until when that counts. */
export interface Holder {
  readonly address: string;
  readonly untilMs: number;
}

/**
 * Whoever carried the latest turn, as far as it said where it is reached and its time is not over. A hint: it may be gone,
 * and what a log says of addresses is only as good as whoever wrote it.
 */
export async function readHolder(
  space: SpaceStore,
  conversation: ConversationId,
  nowMs: number,
): Promise<Holder | null> {
  const types = ["turn_start", "turn_end"] as const;
  const [latest, before] = await space.read({ conversation, limit: 2, newestFirst: true, types });
  const begun = [latest, before].find((stored) => stored?.type === "turn_start");
  const start = begun === undefined ? null : decodeEntry(begun);
  if (latest === undefined || start?.type !== "turn_start" || start.holder === undefined) return null;
  const lease = latest.type === "turn_start" ? (await space.head(conversation)).lease : null;
  // What remains of a lease is by the store's clock; times of entries are by the clock of whoever wrote them.
  const leasedMs = lease === null ? 0 : nowMs + lease.remainingMs;
  const lastMs = Math.max(Date.parse(latest.time), leasedMs);
  const untilMs = lastMs + start.holder.forMs;
  return untilMs > nowMs ? { address: start.holder.address, untilMs } : null;
}
