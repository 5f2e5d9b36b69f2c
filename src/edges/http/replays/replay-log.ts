import type { ReplayEvent, ReplayPlan, ReplayResult } from "#agent/replay/replay-options";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { decodeEntry } from "#log/codec";
import type { Entry, EntryBody } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import { fieldsOf } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { replayEventJson } from "#transfer/views/diff-json";
import type { ReplayProgress } from "./replay-progress.ts";

/**
 * A replay is told from a log of its own, in the space of what is replayed: whichever process runs it, any other can tell it,
 * from any event on, and stop it.
 */
export const REPLAY_PREFIX = "replay-";
const PLANNED = "replay_planned";
const EVENT = "replay_event";
const ENDED = "replay_ended";
const STOP_KEY = "stop";

/** How a replay ended; `completed` says that all prompts were sent, not that all was the same. */
export interface ReplayEnd {
  readonly status: "completed" | "stopped" | "failed";
  readonly message: string;
  readonly results: readonly object[];
}

/** What a log says of a replay. */
export interface ToldReplay {
  readonly plan: ReplayPlan;
  readonly startedAt: string;
  readonly progress: ReplayProgress | null;
  readonly end: (ReplayEnd & { readonly at: string }) | null;
}

export function plannedBody(plan: ReplayPlan): EntryBody {
  return custom(PLANNED, plan);
}

export function eventBody(event: ReplayEvent, progress: ReplayProgress): EntryBody {
  return custom(EVENT, { event: replayEventJson(event), progress });
}

export function endBody(
  end: Omit<ReplayEnd, "results"> & { readonly results: readonly ReplayResult[] },
): EntryBody {
  const results = end.results.map((one) => replayEventJson({ type: "ended", ...one }));
  return custom(ENDED, { ...end, results });
}

function custom(customType: string, data: object): EntryBody {
  return { type: "custom", customType, data: data as Json };
}

/** Asks whoever runs it to stop; harmless to ask twice. */
export async function askToStop(log: Conversation): Promise<void> {
  await log.appendOutside({ type: "metadata", metadata: { stop: true } }, { key: STOP_KEY });
}

export function isStop(entry: Entry): boolean {
  return entry.type === "metadata" && entry.metadata["stop"] === true;
}

/** What an entry of the log tells of the replay: an event as it is streamed, its end, or neither. */
export function toldIn(entry: Entry): { readonly event: object } | { readonly end: ReplayEnd } | null {
  if (entry.type !== "custom" || entry.data === undefined) return null;
  if (entry.customType === EVENT) return { event: fieldsOf(entry.data) };
  return entry.customType === ENDED ? { end: fieldsOf(entry.data) as unknown as ReplayEnd } : null;
}

/** The log of a replay; what is none is not found. */
export async function replayLog(holdfast: Holdfast, id: string): Promise<Conversation> {
  const log = id.startsWith(REPLAY_PREFIX) ? await holdfast.conversation(id).catch(orNone) : null;
  // No client makes a log that lists leave out: what one has written under such a name is no replay.
  const isOurs = log !== null && (await log.head()).summary?.unlisted === true;
  if (log === null || !isOurs || (await readPlan(log)) === null)
    throw new LogError("entry_not_found", `There is no replay ${id} here`, { replay: id });
  return log;
}

/** What is not there is none. */
export function orNone(error: unknown): null {
  if (isLogError(error, "conversation_not_found")) return null;
  throw error;
}

async function readPlan(log: Conversation): Promise<Entry | null> {
  const wanted = { conversation: log.id, limit: 1, types: ["custom"] } as const;
  const [stored] = await log.space.read(wanted);
  const entry = stored === undefined ? null : decodeEntry(stored);
  return entry?.type === "custom" && entry.customType === PLANNED ? entry : null;
}

/** What is known of a replay, by the first and the last that was said of it. */
export async function readReplay(log: Conversation): Promise<ToldReplay | null> {
  const first = await readPlan(log);
  if (first?.type !== "custom") return null;
  const wanted = { conversation: log.id, limit: 2, types: ["custom"], newestFirst: true } as const;
  const last = (await log.space.read(wanted)).map((stored) => decodeEntry(stored));
  let [progress, end]: [ReplayProgress | null, ToldReplay["end"]] = [null, null];
  for (const entry of last) {
    const told = toldIn(entry);
    if (told !== null && "end" in told) end = { ...told.end, at: entry.time };
    else if (told !== null)
      progress ??= fieldsOf(told.event as Json)["progress"] as unknown as ReplayProgress;
  }
  return { plan: first.data as unknown as ReplayPlan, startedAt: first.time, progress, end };
}
