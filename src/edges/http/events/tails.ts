import type { Holdfast } from "#conversation/holdfast";
import { decodeEntry, entryLine } from "#log/codec";
import type { EntryOf, StoredEntry } from "#log/entry";
import type { ConversationId } from "#log/ids";
import { shortLine } from "#edges/http/branches/cut-strings";
import { eventText } from "./event-stream.ts";
import { isLeft, LeftWatch } from "./left-turns.ts";
import { type LiveListeners, liveWords } from "./live-words.ts";
import { merged } from "./merged.ts";

/** The last words of a stream that could have gone on. */
export const STOP: string = eventText("stop", "{}");
const TURNS_AT_ONCE = 64;

interface TailAsked {
  readonly holdfast: Holdfast;
  readonly signal: AbortSignal;
  /** The server is about to stop. */
  readonly stopped: AbortSignal;
}

/** Entries of one conversation as they become durable, each under its seq. */
export async function* tailTexts(
  { holdfast, signal, stopped }: TailAsked,
  conversation: ConversationId,
  after: number,
): AsyncGenerator<string> {
  const both = AbortSignal.any([signal, stopped]);
  for await (const stored of holdfast.space.tail({ conversation, after, signal: both }))
    yield eventText("entry", entryLine(stored), String(stored.seq));
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
export async function* watchTexts(
  { holdfast, signal, stopped, known, listeners, textMax }: WatchAsked,
  watched: readonly Watched[],
): AsyncGenerator<string> {
  const both = AbortSignal.any([signal, stopped]);
  const seen = new Map(known);
  const tails = watched.map(async function* ({ conversation, after }, at) {
    const from = known.get(at) ?? after;
    for await (const stored of holdfast.space.tail({ conversation, after: from, signal: both }))
      yield { at, conversation, stored };
  });
  const live =
    listeners === null
      ? []
      : [
          wordTexts(
            listeners,
            { space: holdfast.spaceId, conversations: watched.map((one) => one.conversation) },
            both,
          ),
        ];
  for await (const told of merged<TailedEntry | string>([...tails, ...live], both)) {
    if (typeof told === "string") {
      yield told;
      continue;
    }
    const { at, conversation, stored } = told;
    seen.set(at, stored.seq);
    const id = [...seen].map(([place, seq]) => `${place}=${seq}`).join(";");
    const { line, cut } = shortLine(stored, textMax);
    const more = cut === null ? "" : `,"cut":${cut}`;
    yield eventText("entry", `{"conversation":${JSON.stringify(conversation)},"entry":${line}${more}}`, id);
  }
  if (stopped.aborted) yield STOP;
}

interface TailedEntry {
  readonly at: number;
  readonly conversation: ConversationId;
  readonly stored: StoredEntry;
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
 * more ends with `left`: whoever listens may go on with it.
 */
export async function* turnTexts(
  { holdfast, signal }: Omit<TailAsked, "stopped">,
  { conversation, turn, after }: TurnAsked & { readonly after: number },
): AsyncGenerator<string> {
  const last = await readTurn(holdfast, { conversation, turn });
  if (last?.type === "turn_end" && last.seq <= after) return yield endText(last);
  using watch = new LeftWatch(() => isLeft(holdfast, { conversation, turn }));
  const both = AbortSignal.any([signal, watch.left]);
  for await (const stored of holdfast.space.tail({ conversation, after, signal: both })) {
    watch.heard();
    yield eventText("entry", entryLine(stored), String(stored.seq));
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
  const wanted = {
    conversation,
    types: ["turn_start", "turn_end"],
    newestFirst: true,
    limit: TURNS_AT_ONCE,
  } as const;
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const page = await holdfast.space.read({ ...wanted, after: before });
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
