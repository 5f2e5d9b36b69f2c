import { createHash, randomBytes } from "node:crypto";
import { stampDraft, type StampedDraft } from "#log/batch";
import { readBody } from "#log/body";
import type { EntryBody } from "#log/entry";

/** Where ids and times come from; tests bring their own. */
export interface IdsAndTime {
  now(): string;
  newId(): string;
}

export const systemIdsAndTime: IdsAndTime = { now: () => new Date().toISOString(), newId: uuidv7Maker() };

const RANDOM_BYTES = 4_096; // asked for in one go: a call per id would cost more than the id
const COUNTER_MAX = 0xfff;

/** Makes UUIDv7 ids that sort in the order they were made, also within a millisecond. */
export function uuidv7Maker(nowMs: () => number = Date.now): () => string {
  let random = Buffer.alloc(0);
  let index = 0;
  let lastMs = 0;
  let counter = 0;
  return () => {
    const now = nowMs();
    counter = now > lastMs ? 0 : counter + 1;
    // A full counter borrows the next millisecond, and a clock that went back waits for itself.
    lastMs = counter > COUNTER_MAX ? lastMs + 1 : Math.max(now, lastMs);
    if (counter > COUNTER_MAX) counter = 0;
    if (index + 8 > random.length) [random, index] = [randomBytes(RANDOM_BYTES), 0];
    const tail = random.toString("hex", index, (index += 8));
    const time = lastMs.toString(16).padStart(12, "0");
    const variant = ((Number.parseInt(tail.charAt(0), 16) & 0x3) | 0x8).toString(16);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, "0")}-${variant}${tail.slice(1, 4)}-${tail.slice(4)}`;
  };
}

export interface Prepared {
  readonly drafts: readonly StampedDraft[];
  readonly key: string | null;
  /** Stands for the bodies as given, so that a retry under the key can be compared; empty without a key. */
  readonly digest: string;
}

/** Parses bodies at the door and makes what they left out. */
export function prepare(
  bodies: readonly (EntryBody | string)[],
  idsAndTime: IdsAndTime,
  key: string | null = null,
): Prepared {
  const now = idsAndTime.now(); // a batch is one moment
  const hash = key === null ? null : createHash("sha256");
  const drafts = bodies.map((body): StampedDraft => {
    const { draft, text } = readBody(body);
    hash?.update(text).update("\n");
    const [id, time] = [draft.id ?? idsAndTime.newId(), inUtc(draft.time ?? now)];
    return stampDraft(draft, { id, time });
  });
  return { drafts, key, digest: hash?.digest("hex") ?? "" };
}

/** Lists are sorted by time as text, so every time is written in UTC. */
function inUtc(time: string): string {
  return time.endsWith("Z") ? time : new Date(time).toISOString();
}
