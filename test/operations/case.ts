import type { OperationName } from "#operations/table";
import type { Lease } from "./seeded-space.ts";

/** One use of an operation, through every way there is. */
export interface Case {
  readonly operation: OperationName;
  readonly name: string;
  readonly input: object;
  /** The same as a command line; absent where no command does it. */
  readonly argv?: readonly string[];
  readonly stdin?: string;
  /** The field that holds what the command prints line by line. */
  readonly rows?: string;
  readonly key?: string;
  readonly lease?: Lease;
  /** The code of the error; absent where it succeeds. */
  readonly fails?: string;
}
