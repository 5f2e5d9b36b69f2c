import { type AppendState, type Author, type Batch, BATCH_ENTRIES_MAX } from "#log/batch";
import type { Draft } from "#log/body";
import { OUTSIDE_TYPES } from "#log/entry-types";
import { LogError } from "#log/errors";
import { checkFree } from "./lease.ts";

/** The epoch an author writes in; throws where it may not write. */
export function checkAuthor(state: AppendState, author: Author): number {
  const { head, lease, nowMs } = state;
  if (author.kind === "outside") return head.epoch;
  if (author.kind === "owner" && author.epoch !== head.epoch) {
    throw new LogError(
      "fenced",
      `Another writer took over (epoch ${head.epoch}, yours is ${author.epoch}); nothing was written`,
      {
        epoch: head.epoch,
        yours: author.epoch,
      },
    );
  }
  if (author.kind === "once") checkFree(head, lease, nowMs);
  if (author.expected !== undefined && (author.expected < head.ownerSeq || author.expected > head.headSeq)) {
    throw new LogError(
      "head_moved",
      `Expected the log to end at ${author.expected}, but it is at ${head.headSeq}; nothing was written`,
      {
        expected: author.expected,
        ownerSeq: head.ownerSeq,
        headSeq: head.headSeq,
      },
    );
  }
  if (author.kind === "owner" && author.link !== undefined && author.link !== head.ownerLink) {
    throw new LogError(
      "diverged",
      `The log is not the one that was written: entry ${head.ownerSeq} ends another batch than the one this writer knows. A copy or a standby may have lost what was acknowledged; nothing was written`,
      { ownerSeq: head.ownerSeq },
    );
  }
  return author.kind === "once" ? head.epoch + 1 : head.epoch;
}

export function checkSize(batch: Pick<Batch, "drafts">): void {
  const count = batch.drafts.length;
  if (count === 0) throw new LogError("invalid_request", "There is nothing to append");
  if (count > BATCH_ENTRIES_MAX) {
    throw new LogError("too_large", `A batch may have ${BATCH_ENTRIES_MAX} entries, this one has ${count}`, {
      limit: BATCH_ENTRIES_MAX,
    });
  }
}

export function checkOutside(draft: Draft, author: Author): void {
  if (author.kind !== "outside" || OUTSIDE_TYPES.includes(draft.type)) return;
  throw new LogError(
    "invalid_request",
    `A ${draft.type} entry belongs to the owner; from outside only ${OUTSIDE_TYPES.join(", ")} are taken`,
  );
}
