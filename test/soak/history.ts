import type { Entry } from "#log/entry";

/** `failed`: certainly nothing was done. `unknown`: no answer came, so it was done once or not at all. */
type Outcome = "ok" | "failed" | "unknown";

/** What identifies an entry wherever it is seen. */
export type Place = readonly [seq: number, id: string];

export type Kind =
  | "create"
  | "append"
  | "send"
  | "fork"
  | "goto"
  | "label"
  | "erase"
  | "read"
  | "context"
  | "search"
  | "export";

/** One try at an operation. Moments are counts of one clock, so an answer before a question has the smaller one. */
export interface Operation {
  readonly kind: Kind;
  readonly conversation: string;
  /** The same key is the same act, tried or repeated. */
  readonly key: string;
  readonly from: number;
  to: number;
  outcome: Outcome;
  code?: string;
  /** What the answer says was written. */
  written?: { readonly fromSeq: number; readonly toSeq: number; readonly deduped: boolean };
  /** The names that its entries have in the log. */
  readonly names: readonly string[];
  /** Of a read: how long the log was, and what was there. */
  headSeq?: number;
  seen?: readonly Place[];
  /** Of a goto: where to. Of a fork: what it made. */
  readonly target?: string;
}

/** What one tail was sent, in the order it came. */
export interface Tail {
  readonly conversation: string;
  readonly after: number;
  readonly from: number;
  readonly seen: Place[];
  /** It was open until the log was at rest, so it has to have all of it. */
  isWhole: boolean;
}

/** A conversation as it is in the end. */
export interface FinalLog {
  readonly entries: readonly Entry[];
  /** As the head says it. */
  readonly leaf: string;
  /** What the invariant checker says of it. */
  readonly problems: readonly string[];
}

export interface Ending {
  readonly logs: ReadonlyMap<string, FinalLog>;
  /** Of each erased conversation: rows or bytes in which its text still is. */
  readonly remains: ReadonlyMap<string, number>;
  /** What the check of the store says. */
  readonly findings: readonly string[];
}

/** A time in which the database ended without warning. */
export interface Crash {
  readonly from: number;
  to: number;
}

/** Writes down what is asked and answered. */
export class History {
  readonly operations: Operation[] = [];
  readonly tails: Tail[] = [];
  readonly crashes: Crash[] = [];
  /** Entries that were streamed, it may be before they were on the disk: a crash may take them, and nothing else. */
  readonly relaxed: Set<string> = new Set();
  #moment = 0;

  now(): number {
    return ++this.#moment;
  }

  begin(operation: Omit<Operation, "from" | "to" | "outcome">): Operation {
    const begun: Operation = {
      ...operation,
      from: this.now(),
      to: Number.MAX_SAFE_INTEGER,
      outcome: "unknown",
    };
    this.operations.push(begun);
    return begun;
  }

  /** The place of an entry that was seen. */
  seen({ seq, id, type }: Pick<Entry, "seq" | "id" | "type">): Place {
    if (type === "update" || type === "attempt") this.relaxed.add(id);
    return [seq, id];
  }

  crash(): Crash {
    const crash = { from: this.now(), to: Number.MAX_SAFE_INTEGER };
    this.crashes.push(crash);
    return crash;
  }

  tail(conversation: string, after: number): Tail {
    const tail = { conversation, after, from: this.now(), seen: [], isWhole: false };
    this.tails.push(tail);
    return tail;
  }
}

export const nameMark = (name: string): string => `[${name}]`;

/** The names of operations that an entry is of; a prompt has its name in its text. */
export function namesIn(entry: Entry): readonly string[] {
  if (entry.type === "custom" && entry.customType === "soak")
    return [(entry.data as { readonly name: string }).name];
  if (entry.type === "label") return entry.label === null ? [] : [entry.label];
  if (entry.type !== "message" || entry.message.role !== "user") return [];
  return entry.message.content.flatMap((block) =>
    block.type === "text" ? [...block.text.matchAll(/\[([^\]]+)\]/g)].map(([, name = ""]) => name) : [],
  );
}

/** The names of the prompts whose tool call an entry begins. */
export function callsIn(entry: Entry): readonly string[] {
  if (entry.type !== "tool_intent") return [];
  return [...JSON.stringify(entry.input).matchAll(/\[([^\]]+)\]/g)].map(([, name = ""]) => name);
}
