import { LogError } from "#log/errors";
import type { Head, Lease } from "#log/lineage/head";

/** Refuses while someone holds a live lease: a lease saves wasted work, the epoch gives correctness. */
export function checkFree(head: Pick<Head, "conversation">, lease: Lease | null, nowMs: number): void {
  if (lease === null || lease.untilMs <= nowMs) return;
  throw new LogError(
    "busy",
    `${lease.writer} is writing to conversation ${head.conversation} for up to ${lease.untilMs - nowMs} ms more; nothing was written`,
    {
      conversation: head.conversation,
      writer: lease.writer,
      retryAfterMs: lease.untilMs - nowMs,
    },
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
  asked: { readonly writer: string; readonly leaseMs: number; readonly nowMs: number },
): Ownership {
  if (lease?.writer !== asked.writer) checkFree(head, lease, asked.nowMs);
  return { epoch: head.epoch + 1, lease: leaseFor(asked.writer, asked) };
}

/** Keeps a lease, lets it go with 0 ms, or takes it again after that; only the current owner can. */
export function planRenew(
  head: Head,
  lease: Lease | null,
  asked: {
    readonly epoch: number;
    readonly leaseMs: number;
    readonly nowMs: number;
    readonly writer?: string;
  },
): Ownership {
  if (asked.epoch !== head.epoch) {
    throw new LogError("fenced", `Another writer took over (epoch ${head.epoch}, yours is ${asked.epoch})`, {
      epoch: head.epoch,
      yours: asked.epoch,
    });
  }
  return { epoch: head.epoch, lease: leaseFor(asked.writer ?? lease?.writer ?? "owner", asked) };
}

function leaseFor(writer: string, asked: { readonly leaseMs: number; readonly nowMs: number }): Lease | null {
  if (!Number.isSafeInteger(asked.leaseMs) || asked.leaseMs < 0) {
    throw new LogError("invalid_request", "A lease takes a whole number of milliseconds, 0 for none");
  }
  return asked.leaseMs > 0 ? { writer, untilMs: asked.nowMs + asked.leaseMs } : null;
}
