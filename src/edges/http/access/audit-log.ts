import { type Clock, systemClock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { LOCAL, SERVER_SPACE, hashOf } from "./grant.ts";
import { decodeEntry } from "#log/codec";
import { isLogError } from "#log/errors";
import { type ConversationId, parseConversationId } from "#log/ids";
import { fieldsOf } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { Durability } from "#log/plans/durability";
import type { AuditLine } from "#operations/server";

const TYPE = "audit";
const QUEUES_MAX = 1_000;
const HASH_CHARS = 32;

/** A line as an act gives it: its time is now, and what is left out is null. */
export type AuditAct = Pick<AuditLine, "token" | "space" | "operation" | "outcome"> & Partial<AuditLine>;

/** What was done, by whose token, and what came of it: in the server's own space, a log for each space and month. */
export class AuditLog {
  readonly #holdfast: Holdfast;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  /** By month and space. */
  readonly #queues = new Map<string, AuditQueue>();

  constructor(
    holdfast: Holdfast,
    clock: Clock = systemClock,
    onError: (error: unknown) => void = () => undefined,
  ) {
    this.#holdfast = holdfast.inSpace(SERVER_SPACE);
    this.#clock = clock;
    this.#onError = onError;
  }

  /** Adds a line that is stored in a moment, together with others. */
  add(act: AuditAct): void {
    const line = this.#lineOf(act);
    this.#queueOf(line).add(line);
  }

  /** Stores lines of one space; they are on disk when this resolves. */
  async store(acts: readonly AuditAct[]): Promise<void> {
    const lines = acts.map((act) => this.#lineOf(act));
    const [first] = lines;
    if (first !== undefined) await this.#queueOf(first).store(lines);
  }

  /** Throws when lines of a space wait that cannot be stored. */
  async check(space: string): Promise<void> {
    await this.#queues.get(nameOf(this.#month(), space))?.check();
  }

  /** Stores the lines that wait. */
  async flush(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.flush()));
  }

  /** The lines of one space, oldest first. `next` gives those after them; null: there are no more yet. */
  async read(asked: {
    readonly space: string;
    readonly month?: string;
    readonly after?: number;
    readonly limit: number;
  }): Promise<{ readonly lines: readonly AuditLine[]; readonly next: number | null }> {
    const { space, month = this.#month(), after = 0, limit } = asked;
    await this.#queues.get(nameOf(month, space))?.flush();
    // Older servers had one log for all spaces: its lines come first. The last bit of a cursor says which log it is about.
    const logs = [parseConversationId(`audit-${month}`), logOf(month, space)];
    const lines: AuditLine[] = [];
    for (const [at, log] of logs.entries()) {
      if (at < after % 2) continue;
      for await (const { seq, line } of this.#linesOf(log, at === after % 2 ? (after - at) / 2 : 0)) {
        if (line.space === space) lines.push(line);
        if (lines.length === limit) return { lines, next: seq * 2 + at };
      }
    }
    return { lines, next: null };
  }

  async *#linesOf(
    log: ConversationId,
    after: number,
  ): AsyncGenerator<{ readonly seq: number; readonly line: AuditLine }> {
    try {
      for await (const stored of this.#holdfast.handle(log).log({ after })) {
        const { seq, time, ...entry } = decodeEntry(stored);
        if (entry.type === "custom") yield { seq, line: lineFrom({ time, ...fieldsOf(entry.data) }) };
      }
    } catch (error) {
      if (!isLogError(error, "conversation_not_found")) throw error;
    }
  }

  #lineOf(act: AuditAct): AuditLine {
    return lineFrom({ time: new Date(this.#clock.nowMs()).toISOString(), ...act });
  }

  #month(): string {
    return new Date(this.#clock.nowMs()).toISOString().slice(0, 7);
  }

  #queueOf({ time, space }: AuditLine): AuditQueue {
    const month = time.slice(0, 7);
    const name = nameOf(month, space);
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    if (this.#queues.size >= QUEUES_MAX)
      for (const [one, queue] of this.#queues) if (queue.isIdle) this.#queues.delete(one);
    const append: AppendLines = (lines, durability) => this.#append(logOf(month, space), lines, durability);
    const queue = new AuditQueue(append, this.#clock, this.#onError);
    this.#queues.set(name, queue);
    return queue;
  }

  async #append(id: ConversationId, ...[lines, durability]: Parameters<AppendLines>): Promise<void> {
    const bodies = lines.map(
      (data) => ({ type: "custom", customType: TYPE, data: data as object as Json }) as const,
    );
    try {
      await this.#holdfast.handle(id).append(bodies, { durability });
    } catch (error) {
      if (!isLogError(error, "conversation_not_found")) throw error;
      const log = await this.#holdfast.create({ id, unlisted: true, key: id });
      await log.append(bodies, { durability });
    }
  }
}

/** Does what a command or a program asks of the store itself: recorded on disk before, and with its outcome afterwards. */
export async function audited<T>(
  holdfast: Holdfast,
  act: Pick<AuditAct, "space" | "operation" | "conversation" | "target">,
  run: () => Promise<T>,
): Promise<T> {
  const log = new AuditLog(holdfast);
  const line = (outcome: string): AuditAct => ({ ...act, token: LOCAL, outcome });
  try {
    await log.store([line("intent")]);
  } catch (error) {
    // An erase may be what makes room again, or removes the log that is damaged.
    if (!isLogError(error, "disk_full") && !isLogError(error, "damaged")) throw error;
  }
  try {
    const result = await run();
    log.add(line("done"));
    return result;
  } catch (error) {
    log.add(line(isLogError(error) ? error.code : "unexpected"));
    throw error;
  } finally {
    await log.flush().catch(() => undefined); // the act is over; its intent is there
  }
}

const NOTHING = {
  token: null,
  conversation: null,
  target: null,
  key: null,
  address: null,
  status: null,
  count: 1,
};

/** A line with all its members; older servers recorded a refusal or, before the act, an intent. */
function lineFrom({ refused, ...fields }: { readonly [name: string]: unknown }): AuditLine {
  return { ...NOTHING, outcome: refused ?? "intent", ...fields } as object as AuditLine;
}

function nameOf(month: string, space: string): string {
  return `${month} ${space}`;
}

/** A space has a name as long as an id may be, so its log is called by a hash of it. */
function logOf(month: string, space: string): ConversationId {
  return parseConversationId(`audit-${month}-${hashOf(space).slice(0, HASH_CHARS)}`);
}

const PAUSE_MS = 25; // for which lines gather before they are stored together
const LINES_AT_ONCE = 256;
const LINES_MAX = 4_096;

/** Appends lines to one log. */
type AppendLines = (lines: readonly AuditLine[], durability: Durability) => Promise<void>;

/** The lines of one log that are not stored yet. Those that come while some are stored go into the next append. */
class AuditQueue {
  readonly #append: AppendLines;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #waiting = new Set<AuditLine>();
  /** Lines that an act waits for until they are on disk. */
  readonly #urgent = new Set<AuditLine>();
  #storing: Promise<void> | null = null;
  #pause: AbortController | null = null;
  #isFailing = false;

  constructor(append: AppendLines, clock: Clock, onError: (error: unknown) => void) {
    this.#append = append;
    this.#clock = clock;
    this.#onError = onError;
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#pause === null && this.#storing === null;
  }

  add(line: AuditLine): void {
    // Nothing is done while lines cannot be stored, so a line that says more than that is never left out.
    if (this.#waiting.size >= LINES_MAX && line.outcome !== "done") return;
    this.#waiting.add(line);
    if (this.#pause === null && !this.#isFailing) void this.#storeSoon();
  }

  /** The lines are on disk when this resolves; where that fails they are dropped. */
  async store(lines: readonly AuditLine[]): Promise<void> {
    for (const line of lines) {
      this.#urgent.add(line);
      this.#waiting.add(line);
    }
    try {
      await this.flush();
    } finally {
      for (const line of lines) {
        this.#urgent.delete(line);
        this.#waiting.delete(line);
      }
    }
  }

  /** Throws when lines wait that cannot be stored. */
  async check(): Promise<void> {
    if (this.#isFailing || this.#waiting.size >= LINES_MAX) await this.flush();
  }

  /** Stores the lines that wait now. */
  async flush(): Promise<void> {
    this.#pause?.abort();
    const lines = [...this.#waiting];
    while (lines.some((line) => this.#waiting.has(line))) {
      this.#storing ??= this.#store().finally(() => void (this.#storing = null));
      await this.#storing;
    }
  }

  async #storeSoon(): Promise<void> {
    const pause = new AbortController();
    this.#pause = pause;
    await this.#clock.sleep(PAUSE_MS, pause.signal);
    this.#pause = null;
    await this.flush().catch(() => undefined); // it is reported, and tried again before anything more is done
  }

  async #store(): Promise<void> {
    const lines = [...this.#waiting].slice(0, LINES_AT_ONCE);
    const isUrgent = lines.some((line) => this.#urgent.has(line));
    try {
      await this.#append(lines, isUrgent ? "full" : "relaxed");
    } catch (error) {
      if (!this.#isFailing) this.#onError(error);
      this.#isFailing = true;
      throw error;
    }
    this.#isFailing = false;
    for (const line of lines) this.#waiting.delete(line);
  }
}
