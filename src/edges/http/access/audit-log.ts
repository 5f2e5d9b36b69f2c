import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { decodeEntry } from "#log/codec";
import { isLogError } from "#log/errors";
import { fieldsOf } from "#log/json/json-fields";
import type { AuditLine } from "#edges/http/routes/server-api";
import { SERVER_SPACE } from "./stored-tokens.ts";

const TYPE = "http_write";
const READ_AT_ONCE = 512;

/** Every write that was asked for, by whose token, before it is done: a log for each month, which may be erased as one. */
export class AuditLog {
  readonly #holdfast: Holdfast;
  #open: { readonly id: string; readonly log: Promise<Conversation> } | null = null;

  constructor(holdfast: Holdfast) {
    this.#holdfast = holdfast.inSpace(SERVER_SPACE);
  }

  async write(line: AuditLine): Promise<void> {
    const { time, ...data } = line;
    const id = logOf(time.slice(0, 7));
    if (this.#open?.id !== id)
      this.#open = { id, log: this.#holdfast.create({ id, unlisted: true, key: id }) };
    const { log } = this.#open;
    try {
      await (await log).append({ type: "custom", customType: TYPE, data }, { durability: "relaxed" });
    } catch (error) {
      this.#open = null; // it may have been erased, or not have been made
      throw error;
    }
  }

  /** The lines of one space, oldest first. `next` gives those after them; null: there are none yet. */
  async read(asked: {
    readonly space: string;
    readonly month: string;
    readonly after: number;
    readonly limit: number;
  }): Promise<{ readonly lines: readonly AuditLine[]; readonly next: number | null }> {
    const lines: AuditLine[] = [];
    let { after } = asked;
    for (;;) {
      const page = await this.#page(logOf(asked.month), after);
      for (const stored of page) {
        const entry = decodeEntry(stored);
        after = entry.seq;
        if (entry.type !== "custom" || entry.customType !== TYPE) continue;
        const line = { time: entry.time, ...fieldsOf(entry.data) } as unknown as AuditLine;
        if (line.space === asked.space) lines.push(line);
        if (lines.length === asked.limit) return { lines, next: after };
      }
      if (page.length < READ_AT_ONCE) return { lines, next: null };
    }
  }

  async #page(conversation: string, after: number): ReturnType<Holdfast["space"]["read"]> {
    try {
      return await this.#holdfast.space.read({ conversation, after, limit: READ_AT_ONCE });
    } catch (error) {
      if (isLogError(error, "conversation_not_found")) return [];
      throw error;
    }
  }
}

function logOf(month: string): string {
  return `audit-${month}`;
}
