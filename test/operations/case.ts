import type { LOCAL_OPERATIONS, OperationName } from "#operations/table";
import type { Lease } from "./seeded-space.ts";

/** One use of an operation, through every way there is. */
export interface Case {
  readonly operation: OperationName | keyof typeof LOCAL_OPERATIONS;
  readonly name: string;
  readonly input: object;
  /** The same as a command line; absent where no command does it. */
  readonly argv?: readonly string[];
  readonly stdin?: string;
  /** The field that holds what the command prints line by line. */
  readonly rows?: string;
  /** It answers with bytes, which the command prints. */
  readonly bytes?: true;
  readonly key?: string;
  readonly lease?: Lease;
  /** A conversation that is there besides the others. */
  readonly conversation?: string;
  /** What the user's memory has before, by its key; `removed` was removed again. */
  readonly memories?: { readonly [key: string]: string };
  /** The code of the error; absent where it succeeds. */
  readonly fails?: string;
}
