import { type Clock, systemClock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import { type ErrorCode, isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { findHead } from "#transfer/copy-log";
import type { MigrationSource, SourceConversation } from "./migration-source.ts";
import {
  comparePieces,
  messagesHere,
  storedBodies,
  conversationIdFor,
  madeKey,
  type ReadyPiece,
  readyConversation,
  bodiesOf,
} from "./ready-pieces.ts";
import type { Json } from "#log/json/json-text";
import type { SpaceStore } from "#store/facets";
import { spaceOf } from "#conversation/on-space";

export interface MigrateOptions {
  /** Only these, by what the source calls them. */
  readonly only?: readonly string[];
  /** Reads and checks everything, and writes nothing. */
  readonly dryRun?: boolean;
  /** Stops before the next conversation. The next migration continues there. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  readonly onConversation?: (outcome: MigrateOutcome) => void;
}

/** What became of one conversation; of one that had nothing new, nothing is said. */
export type MigrateOutcome =
  | {
      readonly state: "brought";
      readonly conversation: string;
      /** What the source calls it. */
      readonly source: string;
      readonly messages: number;
    }
  | MigrateFailure;

/** A conversation of which nothing was written in this pass. */
export interface MigrateFailure {
  readonly state: "left";
  readonly conversation: string;
  readonly source: string;
  readonly code: ErrorCode;
  readonly message: string;
}

export interface MigrateResult {
  /** How many the source has. */
  readonly conversations: number;
  /** Of how many something was brought. */
  readonly brought: number;
  readonly messages: number;
  /** What a model was told of itself: no part of a conversation, and not brought. */
  readonly system: number;
  readonly left: readonly MigrateFailure[];
  readonly stopped: boolean;
}

/** The first place at which a conversation is not what the source says. */
export interface MigrationDifference {
  readonly conversation: string;
  readonly source: string;
  /** Where it is in the source: table and row, or step. */
  readonly place: string;
  /** The how many-th message of the conversation, from 1. */
  readonly number: number;
  readonly there: Json;
  /** The same message as it is here, in the same shape; null where there is none. */
  readonly here: Json;
}

export interface VerifyResult {
  readonly conversations: number;
  /** Messages that are the same on both sides. */
  readonly same: number;
  /** Messages that were written here behind the last one of the source. */
  readonly ahead: number;
  readonly system: number;
  /** One for each conversation that is not the same. */
  readonly differences: readonly MigrationDifference[];
  /** Those that cannot be read. */
  readonly left: readonly MigrateFailure[];
  readonly stopped: boolean;
}

const LANES = 8; // conversations written at once, so that their writes share a commit
const POLL_MS = 1_000;
/** What no other conversation can be brought with, either. */
const FATAL: ReadonlySet<ErrorCode> = new Set(["disk_full", "read_only", "store_failed", "invalid_request"]);

/**
 * Brings the messages of an app that keeps them elsewhere: a conversation for each of its own, an append for each piece under a key
 * that follows from the source. So it may be cut off anywhere and run again, and nothing is there twice. The source is only read;
 * a conversation with a row that cannot be read is left out whole, and named.
 */
export async function migrateInto(
  holdfast: Holdfast,
  source: MigrationSource,
  options: MigrateOptions = {},
): Promise<MigrateResult> {
  return new Migration(holdfast, source, options).pass();
}

export interface FollowMigrationOptions extends MigrateOptions {
  readonly signal: AbortSignal;
  /** Everything that was there is brought; from now on it is what comes. */
  readonly onCaughtUp?: () => void;
  /** How long to wait between two searches for new messages. */
  readonly pollMs?: number;
  /** The clock for waiting (default: real time). */
  readonly clock?: Pick<Clock, "sleep">;
}

/** Migrates a source, then its new messages until the signal fires. */
export async function followMigration(
  holdfast: Holdfast,
  source: MigrationSource,
  options: FollowMigrationOptions,
): Promise<MigrateResult> {
  const { signal, pollMs = POLL_MS, clock = systemClock } = options;
  const migration = new Migration(holdfast, source, options);
  let result = await migration.pass();
  options.onCaughtUp?.();
  while (!signal.aborted) {
    await clock.sleep(pollMs, signal);
    result = await migration.pass();
  }
  return result;
}

class Migration {
  readonly #holdfast: Holdfast;
  readonly #source: MigrationSource;
  readonly #options: MigrateOptions;
  /** Migrated versions by conversation. */
  readonly #done: Map<string, string> = new Map();
  readonly #failures: Map<string, MigrateFailure> = new Map();
  readonly #brought: Set<string> = new Set();
  readonly #system: Map<string, number> = new Map();
  #messages: number = 0;
  #conversations: number = 0;

  constructor(holdfast: Holdfast, source: MigrationSource, options: MigrateOptions) {
    this.#holdfast = holdfast;
    this.#source = source;
    this.#options = options;
  }

  async pass(): Promise<MigrateResult> {
    const rows = await selectConversations(this.#source, this.#options.only);
    this.#conversations = rows.length;
    const changed = rows.filter((one) => this.#done.get(nameOf(one)) !== one.version);
    let done = 0;
    const next = changed.values();
    const failed = new AbortController();
    const lane = async (): Promise<void> => {
      for (const one of next) {
        if (this.#stopped || failed.signal.aborted) return;
        await this.#migrateOne(one);
        this.#options.onProgress?.({ done: ++done, total: changed.length });
      }
    };
    const fail = (error: unknown): never => {
      failed.abort();
      throw error;
    };
    // Nothing is written any more once this has failed.
    const ended = await Promise.allSettled(Array.from({ length: LANES }, () => lane().catch(fail)));
    const wrong = ended.find((lost) => lost.status === "rejected");
    if (wrong !== undefined) throw wrong.reason;
    return this.#result();
  }

  #result(): MigrateResult {
    return {
      conversations: this.#conversations,
      brought: this.#brought.size,
      messages: this.#messages,
      system: [...this.#system.values()].reduce((sum, count) => sum + count, 0),
      left: [...this.#failures.values()],
      stopped: this.#stopped,
    };
  }

  get #stopped(): boolean {
    return this.#options.signal?.aborted === true;
  }

  /** One that cannot be brought does not keep the others from it. */
  async #migrateOne(row: SourceConversation): Promise<void> {
    const { source, version, space } = row;
    const conversation = conversationIdFor(source);
    const name = nameOf(row);
    try {
      const { pieces, system } = readyConversation(await this.#source.read(source, space));
      this.#system.set(name, system);
      const messages = await this.#bring(row, conversation, pieces);
      this.#done.set(name, version);
      this.#failures.delete(name);
      if (messages === 0) return;
      this.#brought.add(name);
      this.#messages += messages;
      this.#options.onConversation?.({ state: "brought", conversation, source, messages });
    } catch (error) {
      if (!isLogError(error) || FATAL.has(error.code)) throw error;
      const { code, message } = error;
      const failure: MigrateFailure = { state: "left", conversation, source, code, message };
      // A temporary failure is retried even if the source does not change.
      if (error.group !== "unavailable") this.#done.set(name, version);
      const isReported = this.#failures.get(name)?.message === message;
      this.#failures.set(name, failure);
      if (!isReported) this.#options.onConversation?.(failure);
    }
  }

  /** How many messages were written. */
  async #bring(row: SourceConversation, id: ConversationId, pieces: readonly ReadyPiece[]): Promise<number> {
    const holdfast = targetOf(this.#holdfast, row);
    const space = spaceOf(holdfast);
    const head = await findHead(space, id);
    const spoken = pieces.filter(({ items }) => items.length > 0);
    const written = spoken.slice(0, head === null ? 0 : await position(space, id, spoken));
    if (head !== null && !(await this.#isOwn(holdfast, row, written)))
      throw new LogError(
        "conversation_exists",
        `Conversation ${id} already exists and was not imported from ${this.#source.name}. It was not changed.`,
        { conversation: id },
      );
    const last = written.at(-1);
    const next = last === undefined ? 0 : pieces.indexOf(last) + 1;
    const least = entriesIn(pieces.slice(0, next)) + beginning(row).length;
    if (head !== null && head.headSeq < least) await checkOrder(space, id, written);
    const rest = head === null ? pieces : await missingPieces(space, id, { pieces, next });
    const count = messagesIn(rest);
    if (this.#options.dryRun === true || rest.length === 0) return count;
    if (head === null) await this.#begin(holdfast, row, rest[0]?.time ?? null);
    const conversation = holdfast.handle(id);
    for (const piece of rest) {
      const bodies = await storedBodies(piece, conversation);
      // With the last one all are on the disk; until then it can be run again.
      const durability = piece === rest.at(-1) ? "full" : "relaxed";
      await conversation.append(bodies, { key: piece.key, durability });
    }
    return count;
  }

  /** Whether the source has made the conversation, or the app itself in writing both sides: then it holds the same pieces. */
  async #isOwn(
    holdfast: Holdfast,
    { source }: SourceConversation,
    written: readonly ReadyPiece[],
  ): Promise<boolean> {
    const id = conversationIdFor(source);
    if ((await holdfast.handle(id).findAppend(madeKey(this.#source.id, source))) !== null) return true;
    return written.length > 0 && comparePieces(written, await messagesHere(holdfast, id)).difference === null;
  }

  async #begin(holdfast: Holdfast, row: SourceConversation, time: string | null): Promise<void> {
    const bodies = beginning(row).map((body): EntryBody =>
      time === null ? body : Object.assign(body, { time }),
    );
    const key = madeKey(this.#source.id, row.source);
    await holdfast.createFrom(conversationIdFor(row.source), bodies, key);
  }
}

/** A conversation of the source: of several tenants, more than one may have that name. */
function nameOf({ source, space = "" }: SourceConversation): string {
  return JSON.stringify([space, source]);
}

/** Where a conversation of the source goes. */
export function targetOf(holdfast: Holdfast, { space }: SourceConversation): Holdfast {
  return space === undefined ? holdfast : holdfast.inSpace(space);
}

/** What a log begins with; one whose id is not its name there says what that is. */
function beginning({ source, parent, mailbox }: SourceConversation): readonly EntryBody[] {
  const metadata = {
    ...(conversationIdFor(source) === source ? {} : { migratedFrom: source }),
    ...(mailbox === undefined ? {} : { mailbox }),
  };
  return [
    {
      type: "conversation",
      ...(parent === undefined ? {} : { parent: { conversation: conversationIdFor(parent) } }),
    },
    ...(Object.keys(metadata).length === 0 ? [] : [{ type: "metadata" as const, metadata }]),
  ];
}

function messagesIn(pieces: readonly ReadyPiece[]): number {
  return pieces.flatMap(({ items }) => items).reduce((sum, { messages }) => sum + messages.length, 0);
}

/** What the source has, or those of it that were asked for; one that it does not have is the caller's mistake. */
export async function selectConversations(
  source: MigrationSource,
  only: readonly string[] | undefined,
): Promise<readonly SourceConversation[]> {
  const all = await source.conversations();
  if (only === undefined) return all;
  const matches = all.filter((one) => only.includes(one.source));
  const missing = only.find((name) => !matches.some((one) => one.source === name));
  if (missing !== undefined)
    throw new LogError("conversation_not_found", `Conversation ${missing} not found in ${source.name}`, {
      conversation: missing,
    });
  return matches;
}

/** How many pieces are there: they were written in order, so halves are asked for. */
async function position(
  space: SpaceStore,
  id: ConversationId,
  pieces: readonly ReadyPiece[],
): Promise<number> {
  let [low, high] = [0, pieces.length];
  for (let index = high - 1; low < high; index = (low + high) >> 1) {
    const piece = pieces[index];
    if (piece === undefined) break;
    if ((await space.findAppend(id, piece.key)) === null) high = index;
    else low = index + 1;
  }
  return low;
}

/** The log has too few entries for what is known of it: something was written there behind what was brought. */
async function checkOrder(
  space: SpaceStore,
  id: ConversationId,
  pieces: readonly ReadyPiece[],
): Promise<void> {
  for (const { key, place } of pieces)
    if ((await space.findAppend(id, key)) === null)
      throw new LogError(
        "diverged",
        `${place}: the row is older than messages that were already imported, so it cannot be added in order`,
        { conversation: id, place },
      );
}

/** Returns the pieces to write. Skips ends that are already stored or whose run has no start here. */
async function missingPieces(
  space: SpaceStore,
  id: ConversationId,
  { pieces, next }: { readonly pieces: readonly ReadyPiece[]; readonly next: number },
): Promise<readonly ReadyPiece[]> {
  const has = async (key: string): Promise<boolean> => (await space.findAppend(id, key)) !== null;
  const rest: ReadyPiece[] = [];
  for (const piece of pieces.slice(next)) {
    if (piece.items.length === 0 && (await has(piece.key))) continue;
    const start = pieces.findIndex(({ run }) => run !== undefined && run.run === piece.end?.run);
    const isBegun = start === -1 || start >= next || (await has(pieces[start]?.key ?? ""));
    if (isBegun) rest.push(piece);
  }
  return rest;
}

function entriesIn(pieces: readonly ReadyPiece[]): number {
  return pieces.reduce((sum, piece) => sum + bodiesOf(piece).length, 0);
}
