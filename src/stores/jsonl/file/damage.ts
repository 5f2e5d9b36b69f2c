import { LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { SeqIndex, type SeqRequest } from "#log/lineage/seq-index";
import type { ReadablePart } from "#stores/indexed/readable-parts";
import type { Stretch } from "./scan-rest.ts";

type Numbers = Pick<ReadablePart, "firstSeq" | "lastSeq">;

/** The entries of batches that follow each other, found by their numbers. */
export function restPart(batches: Stretch): Omit<ReadablePart, "damage"> {
  const entries = batches.flatMap((batch) => batch.entries);
  const index = new SeqIndex();
  for (const entry of entries) index.add(entry);
  return {
    firstSeq: entries[0]?.seq ?? 0,
    lastSeq: entries.at(-1)?.seq ?? 0,
    seqs: (request: SeqRequest) => index.find(request, entries),
  };
}

/** The damage that follows the first of these parts of a log. */
export function damageAfter(
  conversation: ConversationId,
  [before, next, ...others]: readonly Numbers[],
  at: { readonly position: number; readonly reason: string },
): LogError {
  const reachable = before?.lastSeq ?? 0;
  const readable = [before, next, ...others].flatMap((part) =>
    part && part.lastSeq > 0 ? [named(part)] : [],
  );
  const rest = readable.length === 0 ? "no entry can be read" : `${readable.join(" and ")} can be read`;
  return new LogError(
    "damaged",
    `Conversation ${conversation} is damaged at byte ${at.position} of its file: ${at.reason}; ${rest}, and nothing was changed`,
    { conversation, position: at.position, reachableSeq: reachable, resumesSeq: next?.firstSeq ?? null },
  );
}

function named({ firstSeq, lastSeq }: Numbers): string {
  return firstSeq === lastSeq ? `entry ${firstSeq}` : `entries ${firstSeq} to ${lastSeq}`;
}
