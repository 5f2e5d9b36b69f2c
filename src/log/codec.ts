import { type Entry, FORMAT_VERSION, type StoredEntry } from "./entry.ts";
import { LogError } from "./errors.ts";
import type { Json } from "./json/json-text.ts";
import { readJson } from "#log/json/read-json";

type Payload = { [name: string]: Json };

/**
 * How a payload of one version reads in the next one. Version n's step leads to n + 1. From 1 to 2 none is needed: an
 * import keeps the text of a body, so what format 1 put elsewhere or named otherwise may stand in a batch of any version,
 * and those who read it look in both places.
 */
export type Upcasts = { readonly [version: number]: (type: string, payload: Payload) => Payload };
const UPCASTS: Upcasts = {};

/** Whether a payload of this version reads as its text says, so that the text may be given for the value. */
export function readsAsWritten(version: number): boolean {
  return !Object.keys(UPCASTS).some((step) => Number(step) >= version);
}

export function checkVersion(version: unknown, current: number = FORMAT_VERSION): number {
  if (Number.isSafeInteger(version) && (version as number) >= 1 && (version as number) <= current)
    return version as number;
  const message =
    Number.isSafeInteger(version) && (version as number) > current
      ? `This log has format version ${String(version)}. This version of Holdfast reads versions 1 to ${current}.`
      : `This log does not state its format version. This version of Holdfast reads versions 1 to ${current}.`;
  throw new LogError("unsupported_version", message, { version: String(version), current });
}

/** Parses a stored entry, bringing an old version's payload up to the current one; the exact text stays beside it. */
export function decodeEntry(
  stored: StoredEntry,
  upcasts: Upcasts = UPCASTS,
  current: number = FORMAT_VERSION,
): Entry {
  let payload: Payload;
  try {
    payload = readJson(stored.payload) as Payload;
  } catch (cause) {
    throw new LogError(
      "damaged",
      `The payload of entry ${stored.seq} is not JSON`,
      { seq: stored.seq },
      { cause },
    );
  }
  for (let version = checkVersion(stored.v, current); version < current; version++) {
    payload = upcasts[version]?.(stored.type, payload) ?? payload;
  }
  // Assigned one by one: a spread would copy every payload on the hot read path.
  const entry = payload as unknown as { -readonly [K in keyof StoredEntry]: StoredEntry[K] };
  entry.v = stored.v;
  entry.id = stored.id;
  entry.seq = stored.seq;
  entry.parentId = stored.parentId;
  entry.time = stored.time;
  entry.type = stored.type;
  entry.payload = stored.payload;
  return entry as unknown as Entry;
}

/**
 * The entry for a caller: its exact text is there to be asked for, and not said a second time by whoever prints the entry
 * or writes it as JSON.
 */
export function presentEntry<E extends Entry>(entry: E): E {
  return Object.defineProperty(entry, "payload", { enumerable: false });
}

/** The entry as one line of JSON, its payload exactly as it was given. */
export function entryLine(entry: StoredEntry, seq: number = entry.seq): string {
  return lineOf(entry, `"seq":${seq},`);
}

/** The same as a body that another log takes, under the id and the time it has. */
export function bodyLine(entry: StoredEntry): string {
  return lineOf(entry, "");
}

function lineOf({ id, parentId, time, type, payload }: StoredEntry, seq: string): string {
  const parent = parentId === null ? "null" : `"${parentId}"`;
  const rest = payload === "{}" ? "}" : `,${payload.slice(1)}`;
  return `{"id":"${id}",${seq}"parentId":${parent},"time":"${time}","type":"${type}"${rest}`;
}
