import { entryLine } from "#log/codec";
import type { StoredEntry } from "#log/entry";
import { shortLine } from "#operations/views/cut-strings";

const encoder = new TextEncoder();
const JOINED_BYTES_MAX = 16_384; // copying so little costs less than another piece

/** One event as it is sent: a text, or its bytes in parts with nothing between them. */
export type SentEvent = string | readonly Uint8Array[];

/** One thing that happened, as it is sent. */
export function eventText(event: string, data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

export function bytesOf(event: SentEvent): readonly Uint8Array[] {
  return typeof event === "string" ? [encoder.encode(event)] : event;
}

const tailed = new WeakMap<StoredEntry, Uint8Array>();
const watched = new WeakMap<StoredEntry, Map<number | null, Uint8Array>>();

/** An entry under its seq, encoded once for all streams that send it. */
export function entryBytes(stored: StoredEntry): Uint8Array {
  const known = tailed.get(stored);
  if (known !== undefined) return known;
  const bytes = encoder.encode(eventText("entry", entryLine(stored), String(stored.seq)));
  tailed.set(stored, bytes);
  return bytes;
}

/** An entry with its conversation and without an id, which each stream has of its own; its longer texts are cut. */
export function watchedBytes(conversation: string, stored: StoredEntry, textMax: number | null): Uint8Array {
  const known = watched.get(stored) ?? new Map<number | null, Uint8Array>();
  watched.set(stored, known);
  const again = known.get(textMax);
  if (again !== undefined) return again;
  const { line, cut } = shortLine(stored, textMax);
  const more = cut === null ? "" : `,"cut":${cut}`;
  const data = `{"conversation":${JSON.stringify(conversation)},"entry":${line}${more}}`;
  const bytes = encoder.encode(eventText("entry", data));
  known.set(textMax, bytes);
  return bytes;
}

export function withId(id: string, event: Uint8Array): readonly Uint8Array[] {
  const before = encoder.encode(`id: ${id}\n`);
  return event.length > JOINED_BYTES_MAX ? [before, event] : [Buffer.concat([before, event])];
}
