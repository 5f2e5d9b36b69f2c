import type { Author } from "#log/batch";
import { LogError } from "#log/errors";
import type { Head, Lease, LeaseView } from "#log/lineage/head";

/** Refuses while someone holds a live lease: a lease saves wasted work, the epoch gives correctness. */
export function checkFree(head: Pick<Head, "conversation">, lease: LeaseView | null): void {
  if (!isHeld(lease)) return;
  const { writer, remainingMs: retryAfterMs } = lease;
  throw new LogError(
    "busy",
    `Conversation ${head.conversation} is locked by ${writer}. The lease expires in ${retryAfterMs} ms.`,
    { conversation: head.conversation, writer, retryAfterMs },
  );
}

/** Whether a lease still counts, by the clock of the store that returned it. A lapsed one counts for `graceMs` more. */
export function isHeld(lease: LeaseView | null, graceMs: number = 0): lease is LeaseView {
  return lease !== null && lease.remainingMs + graceMs > 0;
}

/** A lease as a store returns it whose clock says `nowMs`. */
export function leaseAt(lease: Lease | null, nowMs: number): LeaseView | null {
  return lease === null ? null : { ...lease, remainingMs: lease.untilMs - nowMs };
}

/** Rejects a writer that does not own the log. Epochs only grow, so a log with a lower epoch is not the one it was acquired on. */
export function checkEpoch(head: Pick<Head, "epoch" | "ownerSeq">, yours: number): void {
  if (yours > head.epoch)
    throw hasDiverged(`its epoch is ${head.epoch}, but this writer acquired ${yours}`, head);
  if (yours < head.epoch)
    throw new LogError("fenced", `Another writer took over (epoch ${head.epoch}, yours is ${yours})`, {
      epoch: head.epoch,
      yours,
    });
}

export function hasDiverged(difference: string, { ownerSeq }: Pick<Head, "ownerSeq">): LogError {
  return new LogError(
    "diverged",
    `Data loss detected: ${difference}. The store was probably restored from a backup, or failed over to a standby that lacked the entries.`,
    { ownerSeq },
  );
}

export interface Ownership {
  readonly epoch: number;
  readonly lease: Lease | null;
}

/**
 * Takes a conversation over. A writer may take back what it holds itself, so that a host that died is not kept
 * waiting by its own lease; the new epoch fences its former self off.
 */
export function planAcquire(
  head: Head,
  lease: Lease | null,
  request: { readonly writer: string; readonly leaseMs: number; readonly nowMs: number },
): Ownership {
  if (lease?.writer !== request.writer) checkFree(head, leaseAt(lease, request.nowMs));
  return { epoch: head.epoch + 1, lease: leaseFor(request.writer, request) };
}

/** Keeps a lease, lets it go with 0 ms, or takes it again after that; only the current owner can. */
export function planRenew(
  head: Head,
  lease: Lease | null,
  request: {
    readonly epoch: number;
    readonly leaseMs: number;
    readonly nowMs: number;
    readonly writer?: string;
  },
): Ownership {
  checkEpoch(head, request.epoch);
  return { epoch: head.epoch, lease: leaseFor(request.writer ?? lease?.writer ?? "owner", request) };
}

/** The lease once a batch of this author is in the log. */
export function leaseAfter(lease: Lease | null, author: Author): Lease | null {
  return author.kind === "owner" && author.releases === true ? null : lease;
}

function leaseFor(
  writer: string,
  request: { readonly leaseMs: number; readonly nowMs: number },
): Lease | null {
  if (!Number.isSafeInteger(request.leaseMs) || request.leaseMs < 0) {
    throw new LogError("invalid_request", "leaseMs must be a whole number of milliseconds (0: no lease)");
  }
  return request.leaseMs > 0 ? { writer, untilMs: request.nowMs + request.leaseMs } : null;
}
