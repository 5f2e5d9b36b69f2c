import type { ReplayEvent, ReplayPlan, ReplayResult } from "#agent/replay/replay-options";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { decodeEntry } from "#log/codec";
import type { Entry, EntryBody } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import { fieldsOf } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { addUsage, NO_USAGE } from "#log/add-usage";
import { isHeld } from "#log/plans/lease";
import type { UsageTotals } from "#log/summary";
import { replayEventJson, usageJson } from "#transfer/views/diff-json";

/**
 * A replay has a log of its own, in the space of what it replays: whichever process runs it, any other can read it, from any
 * event on, and stop it.
 */
export const REPLAY_PREFIX = "replay-";
const PLANNED = "replay_planned";
const EVENT = "replay_event";
const ENDED = "replay_ended";
const STOP_KEY = "stop";

/** How far a replay is. */
export interface ReplayProgress {
  /** Which model is asked, from 1, and how many there are. */
  readonly model: number;
  readonly models: number;
  /** Which prompt of it, from 1; 0: none yet. */
  readonly turn: number;
  readonly turns: number;
  /** Turns of all models whose calls were those of the original, and those whose were not. */
  readonly matched: number;
  readonly diverged: number;
  /** What all models have used until now, as usage is told. */
  readonly spent: object;
}

/** How a replay ended; `completed` says that all prompts were sent, not that all was the same. */
export interface ReplayEnd {
  readonly status: "completed" | "stopped" | "failed";
  readonly message: string;
  readonly results: readonly object[];
}

/** What a log says of a replay. */
interface ReplayRecord {
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

/** Asks the process that runs it to stop; twice is harmless. */
export async function requestStop(log: Conversation): Promise<void> {
  await log.appendOutside({ type: "metadata", metadata: { stop: true } }, { key: STOP_KEY });
}

export function isStop(entry: Entry): boolean {
  return entry.type === "metadata" && entry.metadata["stop"] === true;
}

/** What an entry of the log says of the replay: an event as it is streamed, its end, or neither. */
export function replayMoment(entry: Entry): { readonly event: object } | { readonly end: ReplayEnd } | null {
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
    throw new LogError("entry_not_found", `Replay ${id} not found`, { replay: id });
  return log;
}

/** What is not there is none. */
export function orNone(error: unknown): null {
  if (isLogError(error, "conversation_not_found")) return null;
  throw error;
}

async function readPlan(log: Conversation): Promise<Entry | null> {
  const [stored] = await log.entries({ limit: 1, types: ["custom"] });
  const entry = stored === undefined ? null : decodeEntry(stored);
  return entry?.type === "custom" && entry.customType === PLANNED ? entry : null;
}

/** Whether some process runs it. */
export async function isRunning(log: Conversation): Promise<boolean> {
  return isHeld((await log.head()).lease);
}

/** A replay as its first entry and its last ones say. */
export async function readReplay(log: Conversation): Promise<ReplayRecord | null> {
  const first = await readPlan(log);
  if (first?.type !== "custom") return null;
  const last = await log.entries({ limit: 2, types: ["custom"], newestFirst: true });
  let [progress, end]: [ReplayProgress | null, ReplayRecord["end"]] = [null, null];
  for (const entry of last.map((stored) => decodeEntry(stored))) {
    const moment = replayMoment(entry);
    if (moment !== null && "end" in moment) end = { ...moment.end, at: entry.time };
    else if (moment !== null)
      progress ??= fieldsOf(moment.event as Json)["progress"] as unknown as ReplayProgress;
  }
  return { plan: first.data as unknown as ReplayPlan, startedAt: first.time, progress, end };
}

/** Counts along with a replay. `used`: what the fork of an event has used by then. */
export class ProgressCount {
  #progress: Omit<ReplayProgress, "spent"> = {
    model: 0,
    models: 0,
    turn: 0,
    turns: 0,
    matched: 0,
    diverged: 0,
  };
  readonly #used = new Map<string, UsageTotals>();

  add(event: ReplayEvent, used: UsageTotals | null = null): ReplayProgress {
    const before = this.#progress;
    if (event.type === "planned")
      this.#progress = { ...before, models: event.models.length, turns: event.prompts };
    else if (event.type === "forked") this.#progress = { ...before, model: before.model + 1, turn: 0 };
    else if (event.type === "prompt") this.#progress = { ...before, turn: event.number };
    // What broke off is neither: it may yet have been the same.
    else if (event.type === "turn" && event.outcome === "completed")
      this.#progress =
        event.divergence === null
          ? { ...before, matched: before.matched + 1 }
          : { ...before, diverged: before.diverged + 1 };
    if (used !== null && "conversation" in event) this.#used.set(event.conversation, used);
    return this.now();
  }

  now(): ReplayProgress {
    let all: UsageTotals = { ...NO_USAGE, byModel: {} };
    for (const one of this.#used.values())
      all = { ...addUsage(all, one), byModel: { ...all.byModel, ...one.byModel } };
    return { ...this.#progress, spent: usageJson(all) };
  }
}
