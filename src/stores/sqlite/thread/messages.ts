import type { Durability } from "#log/plans/durability";
import type { ConversationId, SpaceId } from "#log/ids";
import type { ForkRequest } from "#log/plans/plan-start";
import type { AcquireRequest, AppendRequest, CreateRequest, RenewRequest } from "#store/requests";
import type { WireError } from "#stores/sqlite/sqlite-errors";
import type { FlatOutcome } from "./flat-commands.ts";

/** The host's flags are for its own main thread; ours need none of them, nor to repeat the engine's notice on SQLite. */
export const THREAD_FLAGS: string[] = ["--disable-warning=ExperimentalWarning"];

/** Work that joins a group: many of these share one transaction and one sync of the disk. */
export type GroupCommand =
  | {
      readonly kind: "create";
      readonly space: SpaceId;
      readonly durability: Durability;
      readonly request: CreateRequest;
    }
  | {
      readonly kind: "fork";
      readonly space: SpaceId;
      readonly durability: Durability;
      readonly nowMs: number;
      readonly request: ForkRequest;
    }
  | {
      readonly kind: "append";
      readonly space: SpaceId;
      readonly durability: Durability;
      readonly nowMs: number;
      readonly request: AppendRequest;
    }
  | {
      readonly kind: "acquire";
      readonly space: SpaceId;
      readonly durability: Durability;
      readonly nowMs: number;
      readonly request: AcquireRequest;
    }
  | {
      readonly kind: "renew";
      readonly space: SpaceId;
      readonly durability: Durability;
      readonly nowMs: number;
      readonly request: RenewRequest;
    }
  | {
      readonly kind: "blob";
      readonly space: SpaceId;
      readonly durability: Durability;
      readonly request: { readonly conversation: ConversationId; readonly bytes: Uint8Array };
    };

/** Work that runs alone. */
type SoloCommand =
  | {
      readonly kind: "erase";
      readonly space: SpaceId;
      readonly request: { readonly conversation: ConversationId };
    }
  /** Indexes one more stretch for search; true when nothing is left. */
  | { readonly kind: "index" }
  | { readonly kind: "reindex" }
  /** Answers when everything before it is done. */
  | { readonly kind: "barrier" }
  | { readonly kind: "close" };

export type Command = GroupCommand | SoloCommand;

export interface Posted {
  readonly n: number;
  readonly command: Command;
}

export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: WireError };

/** What the writer posts: first that it is open or why not, then outcomes of whole groups, after their commit. */
export type Report =
  | { readonly kind: "opened"; readonly error: WireError | null }
  | { readonly kind: "done"; readonly outcomes: readonly FlatOutcome[] };

export interface WriterOptions {
  readonly path: string;
  /** How long to wait for another process that is writing. */
  readonly busyMs: number;
  /** The size the file may grow to; null leaves that to the disk. */
  readonly bytesMax: number | null;
}
