import { type Appended, type AppendResult, type Batch, stampDraft } from "#log/batch";
import { entryDigest, type Hash } from "#log/batch-links";
import { parseBody } from "#log/body";
import type { EntryBody, StoredEntry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import { emptyHead, type ForkPoint, type Head, type EntryPosition } from "#log/lineage/head";
import { forkTitle } from "#log/title";
import { planEntries, type WritePlan } from "./plan-append.ts";
import { checkSize } from "./check-author.ts";

/** What a store knows of the id that a log is to be begun under; null: nothing is there. */
export interface Existing {
  readonly listed: boolean;
  readonly ownerLink: string | null;
  /** The append under the start's key. */
  readonly seen: (Appended & { readonly digest: string }) | null;
}

export interface Start {
  readonly conversation: ConversationId;
  readonly origin: ForkPoint | null;
  readonly batch: Pick<Batch, "drafts" | "digest" | "key">;
  /** What its first link continues: nothing, or the digest of the node that a fork grows from. */
  readonly previous: string;
}

/** What becomes of a log that is to be begun. */
export type StartPlan =
  | { readonly kind: "write"; readonly empty: Head; readonly plan: WritePlan }
  | { readonly kind: "deduped"; readonly result: Omit<AppendResult, "ids"> }
  | { readonly kind: "refused"; readonly error: LogError };

/** The first batch of a log, or what the same request left before. A log begins with its conversation entry. */
export function planStart(existing: Existing | null, start: Start): StartPlan {
  try {
    if (existing !== null) return repeatedStart(existing, start);
    const { conversation, origin, batch } = start;
    checkSize(batch);
    const [first, ...others] = batch.drafts;
    if (first?.draft.type !== "conversation")
      throw new LogError("invalid_entry", "The first entry of a log must be a conversation entry", {
        index: 0,
      });
    if (origin === null && first.draft.body["origin"] !== undefined)
      throw new LogError("invalid_request", "Use `fork` to create a conversation with an origin");
    const again = others.findIndex(({ draft }) => draft.type === "conversation");
    if (again !== -1)
      throw new LogError("invalid_entry", "Only the first entry of a log can be a conversation entry", {
        index: again + 1,
      });
    const empty = emptyHead(conversation, origin, first.time);
    const state = { head: empty, positions: new Map(), tails: new Map(), settings: new Map() };
    const plan = planEntries(state, { ...batch, author: { kind: "once" } }, empty.epoch + 1);
    return { kind: "write", empty, plan };
  } catch (error) {
    if (isLogError(error)) return { kind: "refused", error };
    throw error;
  }
}

function repeatedStart(
  { listed, seen, ownerLink }: Existing,
  { conversation, origin, batch }: Start,
): StartPlan {
  if (seen === null || batch.key === null || !listed) throw idTaken(conversation, !listed);
  const { digest, ...range } = seen;
  const differs = digest !== batch.digest;
  if (differs && origin !== null)
    throw new LogError(
      "conversation_exists",
      `Conversation ${conversation} was forked from another entry with the same key`,
      { conversation },
    );
  return { kind: "deduped", result: { ...range, deduped: true, differs, ownerLink } };
}

export interface ForkRequest {
  readonly source: ConversationId;
  /** The node the fork grows from; the source's leaf when absent. */
  readonly entry?: EntryId;
  /** The last visible entry of the source, for a copy of a fork that saw no more (default: all). */
  readonly head?: number;
  readonly conversation: ConversationId;
  readonly cwd?: string;
  /** Follows from the source's title (default); null: none, for a copy of a fork without one. */
  readonly title?: string | null;
  readonly time: string;
  readonly id: EntryId;
  readonly key: string | null;
}

/** How a fork's log begins. It shares its source up to one node and sees nothing the source adds later. */
export function forkStart(
  hash: Hash,
  from: {
    readonly head: Head;
    readonly position: EntryPosition | undefined;
    readonly node: StoredEntry | undefined;
  },
  request: ForkRequest,
): Start & { readonly origin: ForkPoint } {
  const { head, position, node } = from;
  if (position === undefined)
    throw new LogError(
      "entry_not_found",
      `Entry ${request.entry} not found in conversation ${request.source}`,
      {
        conversation: request.source,
      },
    );
  const origin = forkPoint(head, position, request.head);
  if (node !== undefined && origin.conversation === origin.source && node.seq > origin.head)
    throw new LogError(
      "entry_not_found",
      `Entry ${origin.entry} comes after entry ${origin.head}, where the fork's copy of the log ends`,
      {
        conversation: request.source,
        entry: origin.entry,
      },
    );
  const title = request.title === undefined ? titleFrom(head) : request.title;
  const draft = parseBody(originBody(origin, { cwd: request.cwd, title }));
  const { id, time } = request;
  const first = stampDraft(draft, { id, time });
  // The source may grow between a fork and its retry, so the digest covers the request, not the cut.
  const seen = request.head === undefined ? [] : [request.head];
  const digest = JSON.stringify([request.source, request.entry ?? null, request.cwd ?? null, ...seen]);
  return {
    conversation: request.conversation,
    origin,
    batch: { drafts: [first], digest, key: request.key },
    previous: node === undefined ? "" : entryDigest(hash, node),
  };
}

function forkPoint(source: Head, position: EntryPosition, expectedSeq: number | undefined): ForkPoint {
  if (position.place === null)
    throw new LogError(
      "unknown_target",
      `Entry ${position.id} is an annotation and not on a branch, so a fork cannot start there`,
      {
        target: position.id,
      },
    );
  const { conversation, headSeq } = source;
  const head = expectedSeq ?? headSeq;
  if (!Number.isSafeInteger(head) || head < 1 || head > headSeq)
    throw new LogError(
      "invalid_request",
      `expectedSeq must be a whole number from 1 to ${headSeq}, the end of ${conversation} (got ${String(head)})`,
      { conversation, head: String(head) },
    );
  return { ...position.place, source: conversation, entry: position.id, head };
}

function titleFrom({ title }: Head): string | null {
  return title === null || title === "" ? null : forkTitle(title);
}

/** The first entry of a fork's own log. */
export function originBody(
  point: ForkPoint,
  { cwd, title }: { readonly cwd?: string | undefined; readonly title?: string | null | undefined },
): EntryBody {
  const origin = { conversation: point.source, entry: point.entry, head: point.head };
  const named = title === undefined || title === null ? {} : { title };
  return { type: "conversation", ...(cwd === undefined ? {} : { cwd }), ...named, origin };
}

/** An id that cannot be given again. That of an erased conversation stays taken while forks point at it by name. */
export function idTaken(conversation: ConversationId, erased: boolean = false): LogError {
  return erased
    ? new LogError(
        "conversation_exists",
        `The id ${conversation} is taken: the conversation was erased, but it still has forks`,
        { conversation, erased },
      )
    : new LogError("conversation_exists", `Conversation ${conversation} already exists`, { conversation });
}
