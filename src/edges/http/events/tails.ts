import type { Holdfast } from "#conversation/holdfast";
import { decodeEntry } from "#log/codec";
import type { EntryOf, StoredEntry } from "#log/entry";
import type { ConversationId } from "#log/ids";
import { TAIL_PAGE } from "#store/tail-feeds";
import { entryBytes, eventText, type SentEvent, watchedBytes, withId } from "./event-bytes.ts";
import type { StreamScope } from "./event-stream.ts";
import { isAbandoned } from "#transfer/views/conversation-state";
import { LeftWatch } from "./left-turns.ts";
import { type LiveListeners, liveWords } from "./live-words.ts";
import { merged } from "./merged.ts";

/** The last words of a stream that could have gone on. */
export const STOP: string = eventText("stop", "{}");
const TURNS_AT_ONCE = 64;

interface TailAsked extends StreamScope {
  readonly holdfast: Holdfast;
}

/** Entries of one conversation as they become durable, each under its seq. */
export async function* tailEvents(
  { holdfast, signal, stopped, hold }: TailAsked,
  conversation: ConversationId,
  after: number,
): AsyncGenerator<SentEvent> {
  const both = AbortSignal.any([signal, stopped]);
  for await (const stored of holdfast.handle(conversation).tailStored({ after, signal: both })) {
    const bytes = entryBytes(stored);
    using _ = hold(stored, bytes);
    yield [bytes];
  }
  if (stopped.aborted) yield STOP;
}

/** A conversation to be watched, and from where on. */
export interface Watched {
  readonly conversation: ConversationId;
  readonly after: number;
}

interface WatchAsked extends TailAsked {
  /** How far each was told, by its place in the list. */
  readonly known: ReadonlyMap<number, number>;
  /** Where words are heard that the log does not have yet; null: they are not wanted. */
  readonly listeners: LiveListeners | null;
  /** Longer texts of entries are cut; null: none. */
  readonly textMax: number | null;
}

/**
 * The same of several conversations. The id of an event says how far each of them has been told that has moved, by its place in
 * the list: `0=12;3=7`. Words that are not in the log yet have none: they are told to whoever hears them, once.
 */
export async function* watchEvents(
  asked: WatchAsked,
  watched: readonly Watched[],
): AsyncGenerator<SentEvent> {
  const { holdfast, signal, stopped, listeners } = asked;
  const both = AbortSignal.any([signal, stopped]);
  const about = { ...asked, signal: both };
  const seen = new Map(asked.known);
  const sent = ({ at, seq, bytes }: WatchedEntry): SentEvent => {
    seen.set(at, seq);
    return withId([...seen].map(([place, last]) => `${place}=${last}`).join(";"), bytes);
  };
  for (const [at, one] of watched.entries())
    for await (const entry of writtenEntries(about, one, { at, after: seen.get(at) ?? one.after })) {
      using _ = entry.hold;
      yield sent(entry);
    }
  const conversations = watched.map(({ conversation }) => conversation);
  const sources: AsyncIterable<WatchedEntry | string>[] = watched.map((one, at) =>
    newEntries(about, one, { at, after: seen.get(at) ?? one.after }),
  );
  if (listeners !== null)
    sources.push(wordTexts(listeners, { space: holdfast.spaceId, conversations }, both));
  for await (const next of merged(sources, both)) {
    if (typeof next === "string") {
      yield next;
      continue;
    }
    using _ = next.hold;
    yield sent(next);
  }
  if (stopped.aborted) yield STOP;
}

interface WatchedEntry {
  readonly at: number;
  readonly seq: number;
  readonly bytes: Uint8Array;
  readonly hold: Disposable;
}

interface From {
  /** Its place in the list. */
  readonly at: number;
  readonly after: number;
}

/** What is there already, of one conversation after the other: all of them at once could be too much for one stream. */
async function* writtenEntries(
  asked: WatchAsked,
  { conversation }: Watched,
  { at, after }: From,
): AsyncGenerator<WatchedEntry> {
  const log = asked.holdfast.handle(conversation);
  let from = after;
  while (!asked.signal.aborted) {
    // Damage is reported by the tail that follows, behind the entries that can be read.
    const page = await log.entries({ after: from, ...TAIL_PAGE }).catch(() => []);
    if (page.length === 0) return;
    for (const stored of page) {
      from = stored.seq;
      yield watchedEntry(asked, stored, { at, conversation });
    }
  }
}

async function* newEntries(
  asked: WatchAsked,
  { conversation }: Watched,
  { at, after }: From,
): AsyncGenerator<WatchedEntry> {
  for await (const stored of asked.holdfast.handle(conversation).tailStored({ after, signal: asked.signal }))
    yield watchedEntry(asked, stored, { at, conversation });
}

/** Counted as held from here on: it may wait for those of other conversations. */
function watchedEntry(
  { textMax, hold }: WatchAsked,
  stored: StoredEntry,
  { at, conversation }: { readonly at: number; readonly conversation: ConversationId },
): WatchedEntry {
  const bytes = watchedBytes(conversation, stored, textMax);
  return { at, seq: stored.seq, bytes, hold: hold(stored, bytes) };
}

async function* wordTexts(...asked: Parameters<typeof liveWords>): AsyncGenerator<string> {
  for await (const words of liveWords(...asked)) yield eventText("words", JSON.stringify(words));
}

/** How far each was told, by the id of the last event; null: no event has such an id. */
export function readPositions(id: string, places: number): ReadonlyMap<number, number> | null {
  const positions = new Map<number, number>();
  for (const part of id.split(";")) {
    const [, place, seq] = /^(\d{1,4})=(\d{1,15})$/.exec(part) ?? [];
    if (place === undefined || Number(place) >= places) return null;
    positions.set(Number(place), Number(seq));
  }
  return positions;
}

/**
 * A turn from a seq on: its entries and whatever else is written, until it ends, wherever it runs. One that nobody carries any
 * more ends with `left`: whoever listens may go on with it. `last`: of the turn; null: it was begun a moment ago.
 */
export async function* turnEvents(
  { holdfast, signal, hold }: TailAsked,
  { conversation, turn, after }: TurnAsked & { readonly after: number },
  last: Awaited<ReturnType<typeof readTurn>>,
): AsyncGenerator<SentEvent> {
  if (last?.type === "turn_end" && last.seq <= after) return yield endText(last);
  using watch = new LeftWatch(() => isAbandoned(holdfast, { conversation, turn }));
  // A turn that another process began may have been left before anybody listens.
  if (last?.type === "turn_start") void watch.look();
  const both = AbortSignal.any([signal, watch.left]);
  for await (const stored of holdfast.handle(conversation).tailStored({ after, signal: both })) {
    watch.heard();
    const bytes = entryBytes(stored);
    using _ = hold(stored, bytes);
    yield [bytes];
    const entry = stored.type === "turn_end" ? decodeEntry(stored) : null;
    if (entry?.type === "turn_end" && entry.turn === turn) return yield endText(entry);
  }
  if (watch.left.aborted) yield eventText("left", JSON.stringify({ turn }));
}

export interface TurnAsked {
  readonly conversation: ConversationId;
  readonly turn: string;
}

/** The end of a turn, or where it has none its start; null: there is no such turn. */
export async function readTurn(
  holdfast: Holdfast,
  { conversation, turn }: TurnAsked,
): Promise<EntryOf<"turn_end"> | EntryOf<"turn_start"> | null> {
  const log = holdfast.handle(conversation);
  const wanted = {
    types: ["turn_start", "turn_end"],
    newestFirst: true,
    limit: TURNS_AT_ONCE,
  } as const;
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const page = await log.entries({ ...wanted, after: before });
    for (const stored of page) {
      const entry = decodeEntry(stored);
      before = entry.seq;
      if ((entry.type === "turn_end" || entry.type === "turn_start") && entry.turn === turn) return entry;
    }
    if (page.length < TURNS_AT_ONCE) return null;
  }
}

function endText({ turn, outcome, class: known, seq, resetAt }: EntryOf<"turn_end">): string {
  const end = { turn, outcome, class: known ?? null, resetAt: resetAt ?? null, seq };
  return eventText("end", JSON.stringify(end));
}
