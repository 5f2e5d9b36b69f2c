import { bodyLine, decodeEntry } from "#log/codec";
import type { EntryBody, EntryOf, Project } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import { type ConversationId, type EntryId, parseConversationId } from "#log/ids";
import { MemoryReader } from "#log/projections/memories";
import { projectionBy } from "#log/projections/projection";
import type { Holdfast } from "#conversation/holdfast";
import { LiveProjection } from "#conversation/live-projection";
import type { Head } from "#log/lineage/head";
import type { Conversation } from "#conversation/conversation";
import { spaceOf } from "#conversation/on-space";

const FIRST_LOG = 1;

const SCOPE_LOG = /^(memory\.(?:user|project\.[0-9a-z]+))(?:\.([1-9]\d*))?$/;

/** The scope whose log has this id, and which of its logs it is; null: another kind of log. */
export function scopeLogOf(id: ConversationId): { readonly name: string; readonly number: number } | null {
  const [whole, name = "", number] = SCOPE_LOG.exec(id) ?? [];
  return whole === undefined ? null : { name, number: number === undefined ? FIRST_LOG : Number(number) };
}

/** The root of the first log that a scope had here: the same in every log that took the place of another. */
export function beganAs({ leaf, summary }: Pick<Head, "leaf" | "summary">): EntryId {
  const began = summary?.metadata["began"];
  return typeof began === "string" ? began : leaf.id;
}

const TRIES_MAX = 20; // each means that another process moved the log in between
const COPIED_AT_ONCE = 500;

const MEMORIES = projectionBy(() => new MemoryReader(), ["memory"]);

type MemoryBody = Extract<EntryBody, { type: "memory" }>;
type MemoryPlan = (reader: MemoryReader) => readonly MemoryBody[];

/** What a scope's log is called, and what its root says. */
export interface ScopeName {
  readonly name: string;
  readonly title: string;
  readonly project: Project | null;
}

/**
 * The log of one scope of memory: kept up to date from where it was read last, written from outside by any number of processes.
 * To take something out for ever, a last fact says so, what stays is copied into the log of the next number, and this one is
 * erased; whoever finds a log that ends so finishes it first.
 */
export class ScopeLog {
  readonly #holdfast: Holdfast;
  readonly #scope: ScopeName;
  #number: number | null = null;
  /** The first entry of the log: another one that has the same number is not taken for it. */
  #root: EntryId | null = null;
  #began: EntryId | null = null;
  #headSeq: number = 0;
  /** What the log remembers; null: it was not read. */
  #live: LiveProjection<MemoryReader> | null = null;
  #reader: MemoryReader = new MemoryReader();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(holdfast: Holdfast, scope: ScopeName) {
    this.#holdfast = holdfast;
    this.#scope = scope;
  }

  /** Returns the current memories, including changes by other processes. */
  read(): Promise<MemoryReader> {
    return this.#alone(() => this.#read());
  }

  /** Writes the facts that a plan derives from the current memories. Writes nothing if there are none, or the key is already used. */
  write(bodies: MemoryPlan, key: string | null = null): Promise<MemoryReader> {
    return this.#alone(() => this.#write(bodies, key));
  }

  /** Another one after each change. */
  async stamp(): Promise<string> {
    await this.read();
    return `${this.#number ?? 0}/${this.#root ?? ""}/${this.#headSeq}`;
  }

  /** Whether there is such a log. */
  async exists(): Promise<boolean> {
    await this.read();
    return this.#number !== null;
  }

  /** The log that counts as it lies there, be there a move to finish or not. */
  current(): Promise<ConversationId | null> {
    return this.#alone(async () => {
      const exists = await this.#find();
      return exists && this.#number !== null ? this.#id(this.#number) : null;
    });
  }

  /** The facts as they are. */
  async *events(after: number): AsyncGenerator<EntryOf<"memory">> {
    await this.read();
    if (this.#number === null) return;
    const range = { after, types: ["memory"] } as const;
    for await (const stored of this.#log(this.#number).log(range)) {
      const entry = decodeEntry(stored);
      if (entry.type === "memory") yield entry;
    }
  }

  /** Runs one operation at a time: each changes the cached state of the log. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(work);
    this.#queue = run.catch(() => undefined);
    return run;
  }

  async #read(): Promise<MemoryReader> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (this.#number === null && !(await this.#find())) return this.#reader;
      if (!(await this.#catchUp())) continue;
      if (this.#reader.erasing === null || !(await this.#finish())) return this.#reader;
    }
    throw tooBusy();
  }

  async #write(bodies: MemoryPlan, key: string | null): Promise<MemoryReader> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const reader = await this.#read();
      const facts = bodies(reader);
      if (facts.length === 0) return reader;
      if (this.#number === null) {
        await this.#create(FIRST_LOG).catch(ignoreGone);
        continue; // another process may have made a later one in between
      }
      const { fromSeq } = (await this.#append(this.#number, facts, key)) ?? { fromSeq: null };
      // Another process may have erased the log with this batch: then write it again to the next log.
      if (fromSeq === null || !(await this.#catchUp())) continue;
      const { erasing } = this.#reader;
      if (erasing === null || fromSeq <= erasing.seq) return this.#reader;
    }
    throw tooBusy();
  }

  #log(number: number): Conversation {
    return this.#holdfast.handle(this.#id(number));
  }

  #id(number: number): ConversationId {
    return parseConversationId(number === FIRST_LOG ? this.#scope.name : `${this.#scope.name}.${number}`);
  }

  /** Starts from the log that counts; whether there is one. */
  async #find(): Promise<boolean> {
    this.#forget();
    const numbers = await this.#numbers();
    const highest = Math.max(0, ...numbers);
    if (highest === 0) return false;
    // Where the move into it was cut off, the one before it still counts.
    const before = highest - 1;
    if (numbers.includes(before)) {
      this.#number = before;
      if ((await this.#catchUp()) && this.#reader.erasing !== null && (await this.#follows(highest)))
        return true;
      this.#forget();
    }
    // A slow process may have created an erased log again. It holds nothing.
    for (const number of numbers.filter((one) => one < highest))
      await this.#log(number).erase().catch(ignoreLogError);
    this.#number = highest;
    return true;
  }

  /** The logs there are; a list that was read while one of them was moved is read again. */
  async #numbers(): Promise<readonly number[]> {
    let last: readonly number[] = [];
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const numbers: number[] = [];
      const { name } = this.#scope;
      for await (const { conversation } of this.#holdfast.list({
        filter: { prefix: name, unlisted: true },
      })) {
        const log = scopeLogOf(conversation);
        if (log?.name === name) numbers.push(log.number);
      }
      // One is made before the one before it is erased: an empty page is of a moment without any.
      if (numbers.length === 0 && tries === 0) return numbers;
      if (tries > 0 && Math.max(0, ...numbers) === Math.max(0, ...last)) return numbers;
      last = numbers;
    }
    throw tooBusy();
  }

  /** Whether a log was begun for what stays of the one that was read. */
  async #follows(number: number): Promise<boolean> {
    const [root] = await this.#log(number).read({ limit: 1, types: ["conversation"] });
    return root?.parent === undefined || root.parent.entry === this.#root;
  }

  #forget(): void {
    this.#number = null;
    this.#root = null;
    this.#began = null;
    this.#headSeq = 0;
    this.#live = null;
    this.#reader = new MemoryReader();
  }

  /** Reads new entries; false if the log no longer exists. */
  async #catchUp(): Promise<boolean> {
    const id = this.#id(this.#number ?? FIRST_LOG);
    try {
      const head = await this.#holdfast.handle(id).head();
      const { leaf, headSeq } = head;
      // It holds facts alone, so that its leaf is its root.
      this.#root ??= leaf.id;
      this.#began ??= beganAs(head);
      if (this.#root !== leaf.id) {
        this.#forget();
        return false;
      }
      this.#live ??= new LiveProjection(spaceOf(this.#holdfast), id, MEMORIES);
      this.#reader = await this.#live.read((reader) => reader, head);
      this.#headSeq = headSeq;
      return true;
    } catch (error) {
      if (!isGone(error, id)) throw error;
      this.#forget();
      return false;
    }
  }

  async #create(number: number): Promise<void> {
    const { title, project } = this.#scope;
    const parent =
      this.#root === null ? {} : { parent: { conversation: this.#id(number - 1), entry: this.#root } };
    const of = project === null ? {} : { project };
    const root: EntryBody = { type: "conversation", unlisted: true, ...of, ...parent };
    const began: EntryBody[] =
      this.#began === null ? [] : [{ type: "metadata", metadata: { began: this.#began } }];
    const bodies: readonly EntryBody[] = [root, { type: "title", title }, ...began];
    await this.#holdfast.createFrom(this.#id(number), bodies, `memory/${number}`);
  }

  async #append(
    number: number,
    facts: readonly MemoryBody[],
    key: string | null,
  ): Promise<{ readonly fromSeq: number } | null> {
    const id = this.#id(number);
    try {
      return await this.#holdfast
        .handle(id)
        .appendOutside(facts, key === null ? {} : { key: `write/${key}` });
    } catch (error) {
      if (!isGone(error, id)) throw error;
      this.#forget();
      return null;
    }
  }

  /** Copies what stays and erases the log; false: this store may only be read. Any number of processes may do it at once. */
  async #finish(): Promise<boolean> {
    const number = this.#number ?? FIRST_LOG;
    const log = this.#log(number);
    try {
      await log.head();
      await this.#create(number + 1);
      await this.#copy(number);
      await log.erase();
    } catch (error) {
      if (isLogError(error, "read_only")) return false;
      // Another process has finished the move. A store of files may report that as a missing file.
      if (!isLogError(error, "conversation_not_found") && !isLogError(error, "store_gone")) throw error;
    }
    this.#forget();
    return true;
  }

  /** The keys of the copied batches make each of them happen once, whoever copies. */
  async #copy(number: number): Promise<void> {
    const { erasing } = this.#reader;
    if (erasing === null) return;
    const next = this.#log(number + 1);
    let [batch, copied]: [string[], number] = [[], 0];
    const flush = async (): Promise<void> => {
      if (batch.length > 0) await next.appendOutside(batch, { key: `copy/${number}/${copied++}` });
      batch = [];
    };
    const range = { types: ["memory"], upTo: erasing.seq - 1 } as const;
    for await (const stored of this.#log(number).log(range)) {
      const entry = decodeEntry(stored);
      if (entry.type === "memory" && entry.key !== undefined && erasing.keys.has(entry.key)) continue;
      batch.push(bodyLine(stored));
      if (batch.length === COPIED_AT_ONCE) await flush();
    }
    await flush();
  }
}

/** Ignores errors that say another process created the log or replaced it. */
function ignoreGone(error: unknown): void {
  if (!isLogError(error, "store_gone") && !isLogError(error, "conversation_exists")) throw error;
}

function ignoreLogError(error: unknown): void {
  if (!isLogError(error)) throw error;
}

/** Another process erased it; a store of files may say so once as of a file that was replaced. */
function isGone(error: unknown, id: ConversationId): boolean {
  if (isLogError(error, "conversation_not_found")) return true;
  return isLogError(error, "store_gone") && error.details["conversation"] === id;
}

function tooBusy(): LogError {
  return new LogError("busy", "Other processes keep changing this memory");
}
