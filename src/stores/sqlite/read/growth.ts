import type { ReadConnection } from "./read-connection.ts";
import type { Reader } from "./reader.ts";

const LAST = "SELECT row, id, conversation FROM entries ORDER BY row DESC LIMIT 1";
const STILL_THERE = "SELECT 1 FROM entries WHERE row = ? AND id = ? AND conversation = ?";
const GROWN = `SELECT DISTINCT c.space, c.id FROM entries e CROSS JOIN conversations c ON c.row = e.conversation
  WHERE e.row > ? AND e.row <= ?`;
const HEAD_SEQ = "SELECT head_seq FROM conversations WHERE space = ? AND id = ? AND listed = 1";
const ROWS_MAX = 20_000; // new entries searched for their conversations; after more, every tail looks for itself

type Last = readonly [row: number, id: string, conversation: number];
const NOTHING: Last = [0, "", 0];

/** Finds the conversations that have grown, whoever wrote, at the cost of the new entries. */
export class Growth {
  readonly #reads: ReadConnection;
  #version: string | null = null;
  #last: Last = NOTHING;

  constructor(reads: ReadConnection) {
    this.#reads = reads;
  }

  /** Conversations that are first asked about after this count as changed. */
  forget(): void {
    this.#version = null;
  }

  /**
   * Null while nobody commits. Otherwise the conversations with entries since the last time; an erase by another process
   * is not among them, nor is everything once rows of the end were erased and used again.
   */
  since(): readonly string[] | null {
    const version = this.#reads.version();
    if (version === this.#version) return null;
    const first = this.#version === null;
    const names = this.#reads.now((reader) => this.#grown(reader, first));
    this.#version = version;
    return names;
  }

  #grown(reader: Reader, first: boolean): readonly string[] {
    const before = this.#last;
    const last = reader.sql.get<Last>(LAST) ?? NOTHING;
    this.#last = last;
    const many = last[0] - before[0] > ROWS_MAX;
    if (first || many || (before !== NOTHING && reader.sql.get(STILL_THERE, ...before) === undefined))
      return [];
    return reader.sql
      .all<[string, string]>(GROWN, before[0], last[0])
      .map(([space, conversation]) => tailName(space, conversation));
  }

  /** How long a conversation's log is; null when there is none to be seen. */
  headSeq(name: string): number | null {
    const [space = "", conversation = ""] = name.split(" ");
    return this.#reads.now((reader) => reader.sql.get<[number]>(HEAD_SEQ, space, conversation)?.[0] ?? null);
  }
}

export function tailName(space: string, conversation: string): string {
  return `${space} ${conversation}`; // neither has blanks
}
