import type { Clock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError } from "#log/errors";
import { type ConversationId, parseConversationId } from "#log/ids";
import { fieldsOf } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { hashOf, SERVER_SPACE } from "./grant.ts";

const TYPE = "http_answer";
const DAY_MS = 86_400_000;

/** A write under a key, by whoever sends it. */
export interface KeyedWrite {
  readonly space: string;
  readonly operation: string;
  readonly key: string;
  /** All that was asked for, as text. */
  readonly asked: string;
}

/** What was answered, and where it had been answered before, whether other words had been asked with. */
export interface StoredAnswer {
  readonly answer: unknown;
  readonly repeated: { readonly differs: boolean } | null;
}

/**
 * What was answered under a key, for acts that leave nothing in the log by which a repetition would be known: a late one is
 * answered as the first was, and undoes nothing that came in between. A log for each month; one and the last are looked into, by
 * every process on the store.
 */
export class IdempotencyLog {
  readonly #holdfast: Holdfast;
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #underWay = new Map<string, Promise<StoredAnswer>>();

  constructor(holdfast: Holdfast, clock: Pick<Clock, "nowMs">) {
    this.#holdfast = holdfast.inSpace(SERVER_SPACE);
    this.#clock = clock;
  }

  /** Does it, unless it was done; at the same moment twice is once. */
  once(write: KeyedWrite, act: () => Promise<unknown>): Promise<StoredAnswer> {
    const name = hashOf(JSON.stringify([write.space, write.operation, write.key]));
    const before = this.#underWay.get(name);
    if (before !== undefined) return before.then(({ answer }) => ({ answer, repeated: { differs: false } }));
    const doing = this.#do(name, hashOf(write.asked), act);
    this.#underWay.set(name, doing);
    return doing.finally(() => this.#underWay.delete(name));
  }

  async #do(name: string, digest: string, act: () => Promise<unknown>): Promise<StoredAnswer> {
    for (const month of this.#months()) {
      const stored = await this.#find(this.#holdfast.handle(logOf(month)), name);
      if (stored !== null)
        return { answer: stored["answer"], repeated: { differs: stored["digest"] !== digest } };
    }
    const answer = await act();
    const [month = ""] = this.#months();
    const log = await this.#holdfast.create({ id: logOf(month), unlisted: true, key: month });
    await log.append(
      { type: "custom", customType: TYPE, data: { answer: answer as Json, digest } },
      { key: name },
    );
    return { answer, repeated: null };
  }

  async #find(log: Conversation, name: string): Promise<{ readonly [name: string]: Json } | null> {
    try {
      const append = await log.findAppend(name);
      const entry = append === null ? null : await log.entry(append.lastId);
      return entry?.type === "custom" ? fieldsOf(entry.data) : null;
    } catch (error) {
      if (isLogError(error, "conversation_not_found")) return null;
      throw error;
    }
  }

  /** This one, the one before it, and the one that begins within a day: it has begun where a clock is ahead of this one. */
  #months(): readonly string[] {
    const nowMs = this.#clock.nowMs();
    const now = new Date(nowMs);
    const before = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
    const times = [now, before, new Date(nowMs + DAY_MS)];
    return [...new Set(times.map((time) => time.toISOString().slice(0, 7)))];
  }
}

function logOf(month: string): ConversationId {
  return parseConversationId(`answers-${month}`);
}
