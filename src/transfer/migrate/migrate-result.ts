import type { ErrorCode } from "#log/errors";
import type { Json } from "#log/json/json-text";

export interface MigrateOptions {
  /** Only these, by what the source calls them. */
  readonly only?: readonly string[];
  /** Reads and checks everything, and writes nothing. */
  readonly dryRun?: boolean;
  /** Stops before the next conversation. What is there can be gone on with. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  readonly onConversation?: (outcome: MigrateOutcome) => void;
}

/** What became of one conversation; of one that had nothing new, nothing is said. */
export type MigrateOutcome =
  | {
      readonly state: "brought";
      readonly conversation: string;
      /** What the source calls it. */
      readonly source: string;
      readonly messages: number;
    }
  | MigrateLeft;

/** A conversation of which nothing was written in this pass. */
export interface MigrateLeft {
  readonly state: "left";
  readonly conversation: string;
  readonly source: string;
  readonly code: ErrorCode;
  readonly message: string;
}

export interface MigrateResult {
  /** How many the source has. */
  readonly conversations: number;
  /** Of how many something was brought. */
  readonly brought: number;
  readonly messages: number;
  /** What a model was told of itself: no part of a conversation, and not brought. */
  readonly system: number;
  readonly left: readonly MigrateLeft[];
  readonly stopped: boolean;
}

/** The first place at which a conversation is not what the source says. */
export interface MigrationDifference {
  readonly conversation: string;
  readonly source: string;
  /** Where it is in the source: table and row, or step. */
  readonly place: string;
  /** The how many-th message of the conversation, from 1. */
  readonly number: number;
  readonly there: Json;
  /** The same message as it is here, in the same shape; null where there is none. */
  readonly here: Json;
}

export interface VerifyResult {
  readonly conversations: number;
  /** Messages that are the same on both sides. */
  readonly same: number;
  /** Messages that were written here behind the last one of the source. */
  readonly ahead: number;
  readonly system: number;
  /** One for each conversation that is not the same. */
  readonly differences: readonly MigrationDifference[];
  /** Those that cannot be read. */
  readonly left: readonly MigrateLeft[];
  readonly stopped: boolean;
}
