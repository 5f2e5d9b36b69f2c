import type { ErrorCode } from "#log/errors";
import type { ConversationId } from "#log/ids";

export interface CopyOptions {
  /** Only these conversations, with those they were forked from; all, with what is remembered, unless given. */
  readonly only?: readonly string[];
  /** Stops after the batch that is being written. What is there can be gone on with. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CopyProgress) => void;
  /** A conversation was copied further, or is left. */
  readonly onConversation?: (outcome: CopyOutcome) => void;
}

interface CopyProgress {
  /** Conversations that were looked at, and how many there are. */
  readonly done: number;
  readonly total: number;
  readonly entries: number;
}

/** What became of one conversation; of one that was the same already nothing is said. */
export type CopyOutcome = { readonly conversation: ConversationId } & (
  | {
      readonly state: "copied";
      readonly entries: number;
      readonly blobs: number;
      readonly toSeq: number;
      readonly missing: readonly string[];
    }
  /** Gone from the target, since the source has moved what it remembers into another log. */
  | { readonly state: "erased" }
  | CopyLeft
);

/** A conversation that could not be copied. */
export interface CopyLeft {
  readonly conversation: ConversationId;
  readonly state: "left";
  readonly code: ErrorCode;
  readonly message: string;
  /** The first entry that is another one, where that is the reason. */
  readonly seq: number | null;
}

export interface CopyResult {
  /** How many were looked at. */
  readonly conversations: number;
  /** How many of them were copied, or copied further. */
  readonly copied: number;
  readonly entries: number;
  readonly blobs: number;
  readonly missing: readonly string[];
  readonly erased: readonly ConversationId[];
  /** Those that could not be copied, each with the reason. The target's own are as they were. */
  readonly left: readonly CopyLeft[];
  /** It was stopped before its end. */
  readonly stopped: boolean;
}
