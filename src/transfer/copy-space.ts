import { type Clock, systemClock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { type ErrorCode, isLogError, LogError } from "#log/errors";
import { type ConversationId, parseConversationId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import type { ConversationRow } from "#store/requests";
import { ConversationQueues } from "#turn/one-at-a-time";
import { type LogCopy, copyLog, type CopySides, findHead } from "./copy-log.ts";
import { ScopesCopy } from "./copy-scopes.ts";
import { spaceOf } from "#conversation/on-space";

export interface CopyOptions {
  /** Only these conversations and their sources (default: all, and memory). */
  readonly only?: readonly string[];
  /** Stops after the current batch. The next copy continues there. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CopyProgress) => void;
  /** A conversation was copied further, or is left. */
  readonly onConversation?: (outcome: CopyOutcome) => void;
}

interface CopyProgress {
  /** Conversations that were looked at, and how many there are. */
  readonly done: number;
  readonly total: number;
  readonly entries: number;
}

/** What became of one conversation; of one that was the same already nothing is said. */
export type CopyOutcome = { readonly conversation: ConversationId } & (
  | {
      readonly state: "copied";
      readonly entries: number;
      readonly blobs: number;
      readonly toSeq: number;
      readonly missing: readonly string[];
    }
  /** Gone from the target, since the source has moved what it remembers into another log. */
  | { readonly state: "erased" }
  | CopyFailure
);

/** A conversation that could not be copied. */
interface CopyFailure {
  readonly conversation: ConversationId;
  readonly state: "left";
  readonly code: ErrorCode;
  readonly message: string;
  /** The first entry that is another one, where that is the reason. */
  readonly seq: number | null;
}

export interface CopyResult {
  /** How many were looked at. */
  readonly conversations: number;
  /** How many of them were copied, or copied further. */
  readonly copied: number;
  readonly entries: number;
  readonly blobs: number;
  readonly missing: readonly string[];
  readonly erased: readonly ConversationId[];
  /** Those that could not be copied, each with the reason. The target's own are as they were. */
  readonly left: readonly CopyFailure[];
  /** It was stopped before its end. */
  readonly stopped: boolean;
}

const POLL_MS = 500;
const FULL_PASS = 20; // every so many looks all logs are looked at

/**
 * Copies a space into a space of the same or another store: conversations entry by entry with their links, forks as forks,
 * what is remembered, blobs. It may be cut off anywhere and run again, and writes nothing twice. The source is only read.
 */
export async function copySpace(
  from: Holdfast,
  to: Holdfast,
  options: CopyOptions = {},
): Promise<CopyResult> {
  return new SpaceCopy(from, to, options).pass(true);
}

export interface FollowOptions extends CopyOptions {
  readonly signal: AbortSignal;
  /** Everything that was there is copied; from now on it is what comes. */
  readonly onCaughtUp?: () => void;
  /** How long to wait between two searches for new entries. */
  readonly pollMs?: number;
  /** The clock for waiting (default: real time). */
  readonly clock?: Pick<Clock, "sleep">;
}

/** Copies a space, then copies new entries until the signal fires. */
export async function followSpace(from: Holdfast, to: Holdfast, options: FollowOptions): Promise<CopyResult> {
  const { signal, pollMs = POLL_MS, clock = systemClock } = options;
  const copy = new SpaceCopy(from, to, options);
  await copy.pass(true);
  options.onCaughtUp?.();
  for (let pass = 1; !signal.aborted; pass++) {
    await clock.sleep(pollMs, signal);
    // Lists start with the latest change, but an imported log keeps its own times and may come later.
    await copy.pass(pass % FULL_PASS === 0);
  }
  return copy.result();
}

const LIST_PAGE = 100;
const LANES = 8; // logs copied at once, so that their writes share a commit
/** What the whole copy cannot go on with. */
const FATAL: ReadonlySet<ErrorCode> = new Set(["disk_full", "read_only", "store_failed"]);

type ListPage = Awaited<ReturnType<SpaceStore["list"]>>;

/** A copy under way: what it knows to be the same on both sides, and what it did. */
class SpaceCopy {
  readonly #from: Holdfast;
  readonly #options: CopyOptions;
  readonly #sides: CopySides;
  readonly #scopes: ScopesCopy;
  /** Up to which entry each log is known to be the same. */
  readonly #same: Map<ConversationId, number> = new Map();
  /** Failures by conversation, with the source's head then. A failure is retried after the source changes. */
  readonly #failures: Map<
    ConversationId,
    { readonly outcome: CopyFailure; readonly headSeq: number | null }
  > = new Map();
  readonly #copied: Set<ConversationId> = new Set();
  readonly #erased: ConversationId[] = [];
  readonly #missing: Set<string> = new Set();
  readonly #queues: ConversationQueues = new ConversationQueues();
  #entries: number = 0;
  #blobs: number = 0;
  #done: number = 0;
  #total: number = 0;

  constructor(from: Holdfast, to: Holdfast, options: CopyOptions) {
    if (from.store === to.store && from.spaceId === to.spaceId)
      throw new LogError(
        "invalid_request",
        "The source and the target are the same space. Choose another target.",
      );
    this.#from = from;
    this.#options = options;
    this.#scopes = new ScopesCopy(from, to);
    const onEntries = (entries: number): void => {
      this.#entries += entries;
      this.#tellProgress();
    };
    this.#sides = { from: spaceOf(from), to: spaceOf(to), onEntries, signal: options.signal };
  }

  /** Looks at every log once, or at those that lists show first for as long as they have changed. */
  async pass(whole: boolean): Promise<CopyResult> {
    const ids: ConversationId[] = [];
    for await (const { conversation } of this.#changed(whole)) ids.push(conversation);
    [this.#done, this.#total] = [0, ids.length];
    const next = ids.values();
    let failed = false;
    const lane = async (): Promise<void> => {
      for (const id of next) {
        if (this.#stopped || failed) return;
        await this.#copyOne(id);
        this.#done++;
        this.#tellProgress();
      }
    };
    const fail = (error: unknown): never => {
      failed = true;
      throw error;
    };
    // Nothing is written any more once this has failed.
    const ended = await Promise.allSettled(Array.from({ length: LANES }, () => lane().catch(fail)));
    const wrong = ended.find((one) => one.status === "rejected");
    if (wrong !== undefined) throw wrong.reason;
    return this.result();
  }

  result(): CopyResult {
    const [entries, blobs] = [this.#entries, this.#blobs];
    const failures = [...this.#failures.values()].map(({ outcome }) => outcome);
    return {
      conversations: new Set([...this.#same.keys(), ...this.#failures.keys()]).size,
      copied: this.#copied.size,
      entries,
      blobs,
      missing: [...this.#missing],
      erased: [...this.#erased],
      left: failures,
      stopped: this.#stopped,
    };
  }

  get #stopped(): boolean {
    return this.#options.signal?.aborted === true;
  }

  #tellProgress(): void {
    this.#options.onProgress?.({ done: this.#done, total: this.#total, entries: this.#entries });
  }

  async *#changed(whole: boolean): AsyncGenerator<Pick<ConversationRow, "conversation" | "headSeq">> {
    const space = spaceOf(this.#from);
    const { only } = this.#options;
    const isChanged = ({
      conversation,
      headSeq,
    }: Pick<ConversationRow, "conversation" | "headSeq">): boolean =>
      this.#same.get(conversation) !== headSeq && this.#failures.get(conversation)?.headSeq !== headSeq;
    for (const id of only ?? []) {
      const head = await space.head(parseConversationId(id));
      if (isChanged(head)) yield head;
    }
    for (const unlisted of only === undefined ? [false, true] : []) {
      let after: string | null = null;
      do {
        const page: ListPage = await space.list({
          limit: LIST_PAGE,
          unlisted,
          ...(after === null ? {} : { after }),
        });
        const changed = page.conversations.filter(isChanged);
        yield* changed;
        after = whole || changed.length > 0 ? page.next : null;
      } while (after !== null);
    }
  }

  /** One that cannot be copied does not keep the others from it. */
  async #copyOne(id: ConversationId): Promise<void> {
    let headSeq: number | null = null;
    try {
      headSeq = (await this.#sides.from.head(id)).headSeq;
      await this.#copy(id, []);
      this.#failures.delete(id);
    } catch (error) {
      if (!isLogError(error) || FATAL.has(error.code)) throw error;
      if (isGone(error, id)) return; // erased while the others were copied
      const { code, message, details } = error;
      const seq = typeof details["seq"] === "number" ? details["seq"] : null;
      const outcome: CopyFailure = { conversation: id, state: "left", code, message, seq };
      const isReported = this.#failures.get(id)?.outcome.message === message;
      // A temporary failure is retried even if the source does not change.
      this.#failures.set(id, { outcome, headSeq: error.group === "unavailable" ? null : headSeq });
      if (!isReported) this.#options.onConversation?.(outcome);
    }
  }

  /** `below`: those that wait for it, since they were forked from it. */
  #copy(id: ConversationId, below: readonly ConversationId[]): Promise<void> {
    return this.#queues.run(id, async () => {
      if (!(await this.#clearScope(id))) return;
      await this.#copyOrigin(id, below);
      const copied = await copyLog(this.#sides, id, this.#same.get(id));
      this.#same.set(id, copied.toSeq);
      this.#count(id, copied);
    });
  }

  #count(id: ConversationId, { entries, blobs, missing, toSeq }: LogCopy): void {
    this.#blobs += blobs;
    for (const digest of missing) this.#missing.add(digest);
    if (entries === 0 && blobs === 0) return;
    this.#copied.add(id);
    this.#options.onConversation?.({ conversation: id, state: "copied", entries, blobs, toSeq, missing });
  }

  /** Whether a log is one to be copied; what it takes the place of in the target goes first. */
  async #clearScope(id: ConversationId): Promise<boolean> {
    const { isCurrent, erased } = await this.#scopes.clearScope(id);
    for (const conversation of erased) {
      this.#erased.push(conversation);
      this.#options.onConversation?.({ conversation, state: "erased" });
    }
    return isCurrent;
  }

  /** A fork needs what it grew from, up to what it saw of it. */
  async #copyOrigin(id: ConversationId, below: readonly ConversationId[]): Promise<void> {
    const { from, to } = this.#sides;
    const { origin } = await from.head(id);
    if (origin === null || this.#same.has(id) || (await findHead(to, id)) !== null) return;
    const { source, head } = origin;
    if ((this.#same.get(source) ?? 0) >= head) return;
    if (source === id || below.includes(source))
      throw new LogError("damaged", `Conversation ${id} is recorded as a fork of itself`, {
        conversation: id,
      });
    try {
      await this.#copy(source, [...below, id]);
    } catch (error) {
      if (!isLogError(error) || FATAL.has(error.code)) throw error;
      const why = isGone(error, source) ? "it was erased" : error.message;
      const message = `The source ${source} of the fork ${id} was not copied: ${why}`;
      throw new LogError(error.code, message, { origin: source }, { cause: error });
    }
  }
}

function isGone(error: LogError, id: ConversationId): boolean {
  const isMissing = error.code === "conversation_not_found" || error.code === "store_gone";
  return isMissing && error.details["conversation"] === id;
}
