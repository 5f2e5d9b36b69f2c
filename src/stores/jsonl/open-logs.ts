import { LogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import { fileGone } from "#stores/jsonl/file/log-file";
import { type LogLocation, logPath } from "./file-names.ts";
import { JsonlLog, lineageOf } from "./jsonl-log.ts";
import { findVisible } from "#log/lineage/lineage";
import type { ForkPoint } from "#log/lineage/head";
import { LogIndex } from "#log/lineage/log-index";
import { parseEnvelope, parseLine } from "#stores/jsonl/file/framing";
import type { FileIdentity } from "#stores/jsonl/disk/disk";
import { Lines } from "#stores/jsonl/file/file-lines";

const ATTEMPTS_MAX = 4; // each one lost means that an erase replaced the file in between
const INDEX_BYTES_MAX = 268_435_456; // 256 MiB: an index is derived, so the least recently used may go
const ENTRY_BYTES = 720; // what an entry takes in an index, measured
const LOG_BYTES = 4_096;

type LocationOf = (conversation: ConversationId) => LogLocation;

interface Link {
  readonly location: LogLocation;
  readonly beginning: LogStart;
}

/** The conversations whose index is in memory, and the way to have one there. */
export class OpenLogs {
  readonly #bytesMax: number;
  /** By path, the least recently used first. */
  readonly #logs = new Map<string, JsonlLog>();
  readonly #weights = new Map<JsonlLog, number>();
  /** How many kept logs stand right on a log: it is in memory anyway for as long as one does. */
  readonly #forks = new Map<JsonlLog, number>();
  readonly #loading = new Map<string, Promise<JsonlLog | null>>();
  #bytes: number = 0;

  constructor(bytesMax: number = INDEX_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** The logs in memory, as of their last look at the file. */
  cached(path: string): JsonlLog | undefined {
    return this.#logs.get(path);
  }

  weightOf(log: JsonlLog): number {
    return LOG_BYTES + log.index.entries.length * ENTRY_BYTES;
  }

  forget(path: string, log: JsonlLog | undefined = this.#logs.get(path)): void {
    if (log === undefined || this.#logs.get(path) !== log) return;
    this.#logs.delete(path);
    this.#bytes -= this.#weights.get(log) ?? 0;
    this.#weights.delete(log);
    if (log.source !== null) this.#count(log.source, -1);
  }

  #count(source: JsonlLog, change: 1 | -1): void {
    const forks = (this.#forks.get(source) ?? 0) + change;
    if (forks > 0) this.#forks.set(source, forks);
    else this.#forks.delete(source);
  }

  /**
   * The log as its file is now; null when there is none. What it inherits does not change, so its sources are not
   * looked at again: whoever reads from one that an erase has replaced is told `store_gone`, and finds the new one here.
   */
  async open(locationOf: LocationOf, conversation: ConversationId): Promise<JsonlLog | null> {
    const location = locationOf(conversation);
    const cached = this.#logs.get(logPath(location));
    if (cached === undefined) return this.#load(locationOf, location);
    const fresh = await cached.refresh();
    if (fresh && !cached.outdated) return this.#keep(logPath(location), cached);
    this.forget(logPath(location), cached);
    const loaded = await this.#load(locationOf, location);
    // An erase by another process leaves what forks need; anything else was not ours to expect.
    if (!fresh && !loaded?.erased) throw fileGone(conversation);
    return loaded;
  }

  async #load(locationOf: LocationOf, location: LogLocation): Promise<JsonlLog | null> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { above, links } = await this.#lineageOf(locationOf, location.conversation);
      let log: JsonlLog | null = above;
      for (const link of links) {
        log = await this.#loadOne(link, log);
        if (log === null) break;
      }
      if (log !== null || (await location.disk.stat(logPath(location))) === null) return log;
    }
    throw fileGone(location.conversation);
  }

  /** The logs to load for a conversation, from the top down, and the log in memory that they stand on. */
  async #lineageOf(
    locationOf: LocationOf,
    conversation: ConversationId,
  ): Promise<{ readonly above: JsonlLog | null; readonly links: readonly Link[] }> {
    const links: Link[] = [];
    const below = new Set<ConversationId>();
    let source: ConversationId | undefined = conversation;
    while (source !== undefined) {
      if (below.has(source)) throw forkedFromItself(source, below);
      below.add(source);
      const location = locationOf(source);
      const cached = this.#logs.get(logPath(location));
      if (cached !== undefined && (await cached.refresh()) && !cached.outdated)
        return { above: this.#keep(logPath(location), cached), links: links.toReversed() };
      const beginning: LogStart | null = await readBeginning(location);
      if (beginning === null) break;
      links.push({ location, beginning });
      source = beginning.origin?.conversation;
    }
    return { above: null, links: links.toReversed() };
  }

  /** Loads a file once, however many ask for it at the same time; null when it is another one by now. */
  async #loadOne({ location, beginning }: Link, source: JsonlLog | null): Promise<JsonlLog | null> {
    const path = logPath(location);
    let loading = this.#loading.get(path);
    if (loading === undefined) {
      loading = loadLog(location, beginning, source).finally(() => this.#loading.delete(path));
      this.#loading.set(path, loading);
    }
    const log = await loading;
    // Another caller's load may have begun before what this one has to see was written.
    return log !== null && (await log.refresh()) ? this.#keep(path, log) : null;
  }

  #keep(path: string, log: JsonlLog): JsonlLog {
    const before = this.#logs.get(path);
    if (before !== log) {
      this.forget(path, before);
      if (log.source !== null) this.#count(log.source, 1);
    }
    this.#logs.delete(path);
    this.#logs.set(path, log);
    this.weigh(path);
    return log;
  }

  /** Takes note of what a log weighs now, after it was opened or written to, and makes room if that is too much. */
  weigh(path: string): void {
    const log = this.#logs.get(path);
    if (log === undefined) return;
    const weight = this.weightOf(log);
    this.#bytes += weight - (this.#weights.get(log) ?? 0);
    this.#weights.set(log, weight);
    if (this.#bytes > this.#bytesMax) this.#evict(log);
  }

  /** Forks go before their source: without it they would have to be loaded again, and it is in memory with them. */
  #evict(needed: JsonlLog): void {
    for (const [path, log] of this.#logs) {
      if (this.#bytes <= this.#bytesMax) return;
      if (log !== needed && !this.#forks.has(log)) this.forget(path, log);
    }
  }
}

function forkedFromItself(conversation: ConversationId, below: ReadonlySet<ConversationId>): LogError {
  const through = [...below].join(", ");
  return new LogError(
    "damaged",
    `Conversation ${conversation} is recorded as a fork of itself, through ${through}`,
    {
      conversation,
    },
  );
}

/** How a conversation's file begins, before anything of it is checked. */
interface LogStart {
  readonly identity: FileIdentity;
  readonly time: string;
  readonly origin: {
    readonly conversation: ConversationId;
    readonly entry: EntryId;
    readonly head: number;
  } | null;
}

/** Null when there is no such file. */
async function readBeginning(location: LogLocation): Promise<LogStart | null> {
  const { disk } = location;
  if ((await disk.stat(logPath(location))) === null) return null;
  await using file = await disk.open(logPath(location), "read");
  const { identity, size } = await file.stat();
  return { identity, ...firstEntryIn(await new Lines(file, 0, size).read()) };
}

/** Builds the index of a conversation's file on that of its source; null when the file is another one by now. */
async function loadLog(
  location: LogLocation,
  { identity, origin, time }: LogStart,
  source: JsonlLog | null,
): Promise<JsonlLog | null> {
  const { conversation } = location;
  const point = source === null || origin === null ? null : forkPoint(source, origin);
  const damage = origin !== null && point === null ? unrooted(conversation, origin) : null;
  const index = new LogIndex(conversation, point, time);
  const log = new JsonlLog(location, { index, source: point === null ? null : source, identity, damage });
  return (await log.refresh()) ? log : null;
}

/** What the first line says, before anything is checked: a wrong word in it is found as damage right after. */
function firstEntryIn(line: Buffer | null): Omit<LogStart, "identity"> {
  const envelope = line === null ? null : parseEnvelope(line);
  if (line === null || envelope === null) return { time: "", origin: null };
  const body = parseLine(line) as { origin?: NonNullable<LogStart["origin"]> } | null;
  const origin = envelope.type === "conversation" && typeof body?.origin === "object" ? body.origin : null;
  return { time: envelope.time, origin };
}

/**
 * Where a fork grew from, found by id: an erase rewrites what is left of the source and numbers its segments anew,
 * so a number written down when the fork was made would lie.
 */
function forkPoint(source: JsonlLog, origin: NonNullable<LogStart["origin"]>): ForkPoint | null {
  // Most forks grow from a node of their source's own; only the others need the whole line above.
  const own = source.index.find(origin.entry);
  const place = (own ?? findVisible(lineageOf(source), source.conversation, origin.entry))?.place;
  return place ? { ...place, source: source.conversation, entry: origin.entry, head: origin.head } : null;
}

function unrooted(conversation: ConversationId, origin: NonNullable<LogStart["origin"]>): LogError {
  return new LogError(
    "damaged",
    `Entry ${origin.entry} of conversation ${origin.conversation}, where ${conversation} was forked, is missing`,
    { conversation, position: 0, reachableSeq: 0 },
  );
}
