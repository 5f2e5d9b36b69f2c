import type { Json } from "#log/json/json-text";
import type { ShapeName } from "#transfer/migrate/rules/foreign-messages";

/** Where an app keeps its messages at present. It is only read. */
export interface MigrationSource {
  /** What it is, the same whenever it is opened: a conversation that one source has made is no other's. */
  readonly id: string;
  /** For people: without a password. */
  readonly name: string;
  /** How what is there is taken, line by line, for people to check. */
  readonly mapping: readonly string[];
  conversations(): Promise<readonly SourceListed[]>;
  /** All of one, checked: a row that cannot be read is an error that names it. */
  read(source: string): Promise<readonly SourcePiece[]>;
  close(): Promise<void>;
}

export interface SourceListed {
  /** What it is called there. */
  readonly source: string;
  /** Another text once something of it has changed. */
  readonly version: string;
}

/** What was written at once there, and is one append here: a row, or the result of a step. */
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
}
