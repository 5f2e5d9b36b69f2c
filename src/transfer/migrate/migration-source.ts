import type { Bodies } from "#log/entry";
import type { Json } from "#log/json/json-text";
import type { ShapeName } from "./foreign-messages.ts";

/** Where an app keeps its messages at present. It is only read. */
export interface MigrationSource {
  /** What it is, the same whenever it is opened: a conversation that one source has made is no other's. */
  readonly id: string;
  /** For people: without a password. */
  readonly name: string;
  /** How columns or steps map to messages, one line each, for the user to check. */
  readonly mapping: readonly string[];
  conversations(): Promise<readonly SourceConversation[]>;
  /** All of one, checked: a row that cannot be read is an error that names it. `space`: as it was listed. */
  read(source: string, space?: string): Promise<readonly SourcePiece[]>;
  close(): Promise<void>;
}

export interface SourceConversation {
  /** What it is called there. */
  readonly source: string;
  /** Another text once something of it has changed. */
  readonly version: string;
  /** The space that it goes into, where the source has several tenants; else all go into the one that was asked for. */
  readonly space?: string;
  /** The conversation there that caused it. */
  readonly parent?: string;
  /** Kept as `mailbox` of its metadata. */
  readonly mailbox?: string;
}

/** A row or the result of a step in the source, which is one append here. */
export interface SourcePiece {
  /** The append's key: the same whenever it is read. */
  readonly key: string;
  /** Where it is, for people: table and row. */
  readonly place: string;
  readonly time: string | null;
  /** Null: each message is taken for what it looks like. */
  readonly shape: ShapeName | null;
  /** Messages as they are there. */
  readonly messages: readonly Json[];
  /** Marks of each message, in the same order (default: the message's own `message_id` and `internal`). */
  readonly marks?: readonly MessageMarks[];
  /** A run that begins with this piece. */
  readonly run?: Bodies["run_start"];
  /** A turn of that run, whose prompt is what a person says at the start of this piece. */
  readonly turn?: { readonly turn: string; readonly run: string };
  /** The turn and the run that end with it. */
  readonly end?: SourceEnd;
}

export interface MessageMarks {
  /** Its id there: the entry's id. */
  readonly id?: string;
  /** In the log and the context, not in the history that people read. */
  readonly internal?: boolean;
}

interface SourceEnd {
  readonly run: string;
  /** Absent where it had none. */
  readonly turn?: string;
  readonly status: "completed" | "failed" | "cancelled";
}
