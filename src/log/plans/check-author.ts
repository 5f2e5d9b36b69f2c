import { type AppendState, type Author, type Batch, BATCH_ENTRIES_MAX } from "#log/batch";
import type { Draft } from "#log/body";
import { OUTSIDE_TYPES } from "#log/entry-types";
import { LogError } from "#log/errors";
import { checkEpoch, checkFree, hasDiverged, leaseAt } from "./lease.ts";

/** The epoch an author writes in; throws where it may not write. */
export function checkAuthor(state: AppendState, author: Author): number {
  const { head, lease, nowMs } = state;
  if (author.kind === "outside") return head.epoch;
  if (author.kind === "once") checkFree(head, leaseAt(lease, nowMs));
  else checkEpoch(head, author.epoch);
  const holdsLink = author.kind === "owner" && author.link !== undefined;
  const { expected } = author;
  // A writer that names the link of its last batch knows that the batch was acknowledged.
  if (holdsLink && expected !== undefined && expected > head.headSeq)
    throw hasDiverged(`the log ends at ${head.headSeq}, but this writer wrote up to ${expected}`, head);
  if (expected !== undefined && (expected < head.ownerSeq || expected > head.headSeq)) {
    throw new LogError(
      "head_moved",
      `Expected the log to end at ${expected}, but it ends at ${head.headSeq}`,
      {
        expected,
        ownerSeq: head.ownerSeq,
        headSeq: head.headSeq,
      },
    );
  }
  if (holdsLink && author.link !== head.ownerLink)
    throw hasDiverged(`entry ${head.ownerSeq} belongs to a batch that this writer did not write`, head);
  return author.kind === "once" ? head.epoch + 1 : head.epoch;
}

export function checkSize(batch: Pick<Batch, "drafts">): void {
  const count = batch.drafts.length;
  if (count === 0) throw new LogError("invalid_request", "Nothing to append: the list of entries is empty");
  if (count > BATCH_ENTRIES_MAX) {
    throw new LogError("too_large", `The batch has ${count} entries. The limit is ${BATCH_ENTRIES_MAX}.`, {
      limit: BATCH_ENTRIES_MAX,
    });
  }
}

export function checkOutside(draft: Draft, author: Author): void {
  if (author.kind !== "outside" || OUTSIDE_TYPES.includes(draft.type)) return;
  throw new LogError(
    "invalid_request",
    `Only the owner can append an entry of type ${draft.type}. Other writers can append ${OUTSIDE_TYPES.join(", ")}.`,
  );
}
