import { type Clock, systemClock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import { type ErrorCode, isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { findHead } from "#transfer/copy/shared-prefix";
import { storeImages } from "#transfer/messages/images";
import type { MigrateLeft, MigrateOptions, MigrateResult } from "./migrate-result.ts";
import type { MigrationSource, SourceListed } from "./migration-source.ts";
import { conversationIdFor, madeKey, type ReadyPiece, readyConversation } from "./ready-pieces.ts";

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
  /** Between two looks for what was written. */
  readonly pollMs?: number;
  /** By which it waits; real time unless given. */
  readonly clock?: Pick<Clock, "sleep">;
}

/** The same, and goes on with what is written there, until the signal fires. */
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
  /** What is brought, by the version of the source. */
  readonly #done: Map<string, string> = new Map();
  readonly #left: Map<string, MigrateLeft> = new Map();
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
    const listed = await chosen(this.#source, this.#options.only);
    this.#conversations = listed.length;
    const changed = listed.filter(({ source, version }) => this.#done.get(source) !== version);
    let done = 0;
    const next = changed.values();
    const failed = new AbortController();
    const lane = async (): Promise<void> => {
      for (const one of next) {
        if (this.#stopped || failed.signal.aborted) return;
        await this.#one(one);
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
      left: [...this.#left.values()],
      stopped: this.#stopped,
    };
  }

  get #stopped(): boolean {
    return this.#options.signal?.aborted === true;
  }

  /** One that cannot be brought does not keep the others from it. */
  async #one({ source, version }: SourceListed): Promise<void> {
    const conversation = conversationIdFor(source);
    try {
      const { pieces, system } = readyConversation(await this.#source.read(source));
      this.#system.set(source, system);
      const messages = await this.#bring(source, conversation, pieces);
      this.#done.set(source, version);
      this.#left.delete(source);
      if (messages === 0) return;
      this.#brought.add(source);
      this.#messages += messages;
      this.#options.onConversation?.({ state: "brought", conversation, source, messages });
    } catch (error) {
      if (!isLogError(error) || FATAL.has(error.code)) throw error;
      const { code, message } = error;
      const left: MigrateLeft = { state: "left", conversation, source, code, message };
      // What is not to be had at the moment is tried again without a change.
      if (error.group !== "unavailable") this.#done.set(source, version);
      const told = this.#left.get(source)?.message === message;
      this.#left.set(source, left);
      if (!told) this.#options.onConversation?.(left);
    }
  }

  /** How many messages were written. */
  async #bring(source: string, id: ConversationId, pieces: readonly ReadyPiece[]): Promise<number> {
    const { space } = this.#holdfast;
    const head = await findHead(space, id);
    if (head !== null && (await space.findAppend(id, madeKey(this.#source.id, source))) === null)
      throw new LogError(
        "conversation_exists",
        `There is a conversation ${id} already that was not made from ${this.#source.name}; it was not touched`,
        { conversation: id },
      );
    const known = head === null ? 0 : await this.#position(id, pieces);
    const least = messagesIn(pieces.slice(0, known)) + beginning(source, id).length;
    if (head !== null && head.headSeq < least) throw await this.#between(id, pieces.slice(0, known));
    const rest = pieces.slice(known);
    const count = messagesIn(rest);
    if (this.#options.dryRun === true || count === 0) return count;
    if (head === null) await this.#begin(source, id, rest[0]?.time ?? null);
    const conversation = this.#holdfast.unopened(id);
    for (const piece of rest) {
      const kept = await storeImages(messagesOf(piece), conversation);
      const { time } = piece;
      const bodies = kept.map((message): EntryBody =>
        time === null ? { type: "message", message } : { type: "message", message, time },
      );
      // With the last one all are on the disk; until then it can be run again.
      const durability = piece === rest.at(-1) ? "full" : "relaxed";
      await conversation.append(bodies, { key: piece.key, durability });
    }
    return count;
  }

  /** The log has too few entries for what is known of it: something was written there behind what was brought. */
  async #between(id: ConversationId, pieces: readonly ReadyPiece[]): Promise<LogError> {
    for (const { key, place } of pieces)
      if ((await this.#holdfast.space.findAppend(id, key)) === null)
        return new LogError(
          "diverged",
          `${place}: was written there before what is here already, and came too late for its place; nothing was written`,
          { conversation: id, place },
        );
    return new LogError("diverged", `The conversation ${id} has fewer entries than were brought`, {
      conversation: id,
    });
  }

  async #begin(source: string, id: ConversationId, time: string | null): Promise<void> {
    const bodies = beginning(source, id).map((body): EntryBody =>
      time === null ? body : Object.assign(body, { time }),
    );
    await this.#holdfast.createFrom(id, bodies, madeKey(this.#source.id, source));
  }

  /** How many pieces are there: they were written in order, so halves are asked for. */
  async #position(id: ConversationId, pieces: readonly ReadyPiece[]): Promise<number> {
    let [low, high] = [0, pieces.length];
    for (let at = high - 1; low < high; at = (low + high) >> 1) {
      const piece = pieces[at];
      if (piece === undefined) break;
      if ((await this.#holdfast.space.findAppend(id, piece.key)) === null) high = at;
      else low = at + 1;
    }
    return low;
  }
}

/** What a log begins with; one whose id is not its name there says what that is. */
function beginning(source: string, id: ConversationId): readonly EntryBody[] {
  const root: EntryBody = { type: "conversation" };
  return id === source ? [root] : [root, { type: "metadata", metadata: { migratedFrom: source } }];
}

function messagesIn(pieces: readonly ReadyPiece[]): number {
  return pieces.reduce((sum, piece) => sum + messagesOf(piece).length, 0);
}

function messagesOf({ items }: ReadyPiece): ReadyPiece["items"][number]["messages"] {
  return items.flatMap(({ messages }) => messages);
}

/** What the source has, or those of it that were asked for; one that it does not have is the caller's mistake. */
export async function chosen(
  source: MigrationSource,
  only: readonly string[] | undefined,
): Promise<readonly SourceListed[]> {
  const all = await source.conversations();
  if (only === undefined) return all;
  const found = all.filter((one) => only.includes(one.source));
  const missing = only.find((name) => !found.some((one) => one.source === name));
  if (missing !== undefined)
    throw new LogError("conversation_not_found", `${source.name} has no conversation ${missing}`, {
      conversation: missing,
    });
  return found;
}
