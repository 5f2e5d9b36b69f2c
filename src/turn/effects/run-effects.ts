import { createHash } from "node:crypto";
import { type Clock, systemClock } from "#conversation/clock";
import type { Entry, EntryBody } from "#log/entry";
import { type ContentBlock, type ToolResultMessage, textOfBlocks, detailsOf } from "#log/message";
import { LogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { canonicalText, isSameJson } from "#log/json/json-fields";
import type { Owner } from "#conversation/owner";
import { resultMessage } from "#turn/rules/turn-record";
import { act, type ToolCallRequest } from "./act.ts";
import { processEnded } from "./left-processes.ts";
import type { Tool } from "./tool.ts";
import { type KeepBlob, type NormalOutput } from "./tool-output.ts";

/** How an effect ended that was run, now or before. */
export interface KnownOutcome {
  readonly state: "done" | "failed";
  /** Its words, without what is no text. */
  readonly output: string;
  readonly content: readonly ContentBlock[];
  readonly details?: Json;
  /** It was run by this very request. */
  readonly ran: boolean;
}

export type EffectOutcome =
  | KnownOutcome
  /** It was started once and nobody knows how it ended. It is not started again. */
  | { readonly state: "unknown" }
  /** The turn was over before it began: nothing was run. */
  | { readonly state: "not_started" };

/** Which answer of the model in this turn the calls belong to, where their ids come again in each. */
export interface EffectStep {
  readonly step?: number;
}

/** What is asked of `runEffects`, and who is told of what. */
export interface EffectsRequest extends EffectStep {
  readonly calls: readonly ToolCallRequest[];
  /** The turn's: once it is aborted nothing starts, and what runs is told to stop and given a few seconds. */
  readonly signal: AbortSignal;
  /** How many run side by side; eight unless given. */
  readonly limit?: number;
  /** How long a tool may run that does not say so itself; for ever unless given. */
  readonly timeoutMs?: number;
  /** Where long texts and images are kept; without it they are cut, and the result says so. */
  readonly keepBlob?: KeepBlob;
  /**
   * What is written with a result, in the same batch and before it. Called in the order in which results are written,
   * right before each is.
   */
  readonly alongside?: (call: ToolCallRequest, result: ToolResultMessage) => readonly EntryBody[];
  readonly onStart?: (call: ToolCallRequest) => void;
  readonly onProgress?: (call: ToolCallRequest, text: string) => void;
  /** In the order in which they are known. */
  readonly onOutcome?: (call: ToolCallRequest, outcome: EffectOutcome) => void;
  readonly clock?: Clock;
}

const LIMIT = 8;
const RUNS_MAX = 3; // for tools that may be repeated: a crash loop must end

/**
 * Runs tool calls so that each effect happens at most once, whatever fails: an intent is durable before its tool
 * starts, an outcome as soon as it is known. Calls run side by side; the context puts results in the order of calls.
 * A call is known by its turn, its step, its id and its input.
 */
export async function runEffects(
  owner: Owner,
  turn: string,
  request: EffectsRequest,
): Promise<readonly EffectOutcome[]> {
  const at: Running = { ...request, owner, turn };
  const run = limited(request.limit ?? LIMIT, async (call: ToolCallRequest) => {
    const outcome = await runEffect(at, call);
    tell(() => request.onOutcome?.(call, outcome));
    return outcome;
  });
  return onceEach(request.calls, run);
}

/** The same function, at most so many times at once; the others follow in their order. */
function limited<T, R>(limit: number, run: (one: T) => Promise<R>): (one: T) => Promise<R> {
  let free = Math.max(1, Math.floor(limit) || 1);
  const waiting: (() => void)[] = [];
  return async (one) => {
    if (free > 0) free--;
    else {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      await promise;
    }
    try {
      return await run(one);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/** A listener that fails must not cost an effect its outcome. */
function tell(listener: () => void): void {
  try {
    listener();
  } catch {
    // Nobody can be told of it here; the log has what happened.
  }
}

export function unlikeCalls(call: string): LogError {
  const why = `Two different calls in one reply have the id ${call}. The second was not run.`;
  return new LogError("invalid_request", why, { call });
}

/** A call that stands in a list twice runs once; two calls under one id cannot be told apart by whoever reads on. */
export async function onceEach(
  calls: readonly ToolCallRequest[],
  run: (call: ToolCallRequest) => Promise<EffectOutcome>,
): Promise<readonly EffectOutcome[]> {
  const first = new Map<string, ToolCallRequest>();
  for (const call of calls) {
    const before = first.get(call.id) ?? call;
    first.set(call.id, before);
    if (before.tool.name !== call.tool.name || !isSameJson(before.input, call.input))
      throw unlikeCalls(call.id);
  }
  const running = new Map([...first.values()].map((call) => [call, run(call)] as const));
  return Promise.all(
    calls.map(async (call): Promise<EffectOutcome> => {
      const before = first.get(call.id) ?? call;
      const outcome = await (running.get(before) ?? run(before));
      return before === call ? outcome : heardAgain(outcome);
    }),
  );
}

/** The outcome as whoever asks once more is told of it. */
export function heardAgain(outcome: EffectOutcome): EffectOutcome {
  return "ran" in outcome ? { ...outcome, ran: false } : outcome;
}

interface CallPlace {
  readonly turn: string;
  readonly step?: number | undefined;
}

/** The key of the first call of that name in its place. */
export function effectKey({ turn, step }: CallPlace, call: string): string {
  return step === undefined ? `effect/${turn}/${call}` : `effect/${turn}/step ${step}/${call}`;
}

/** The key of a call under whose first key there is another. */
function otherEffectKey(at: CallPlace, call: ToolCallRequest): string {
  const whole = [at.turn, at.step ?? null, call.id, call.tool.name, call.input];
  const digest = createHash("sha256").update(canonicalText(whole)).digest("hex");
  return `${effectKey(at, call.id)}/${digest}`;
}

interface Running extends CallPlace, Omit<EffectsRequest, "step" | "calls"> {
  readonly owner: Owner;
}

async function runEffect(at: Running, call: ToolCallRequest): Promise<EffectOutcome> {
  const { key, claimed } = await keyOf(at, call);
  const stored = await at.owner.findAppend(`${key}/outcome`);
  if (stored !== null) return storedOutcome(await at.owner.entry(stored.lastId));
  if (at.signal.aborted && !claimed) return { state: "not_started" };
  // What changes nothing needs no record that it began, unless it was another tool when it did.
  const run = call.tool.effect === "none" && !claimed ? 1 : await claim(at, call, key);
  if (run === null) return { state: "unknown" };
  tell(() => at.onStart?.(call));
  const { onProgress } = at;
  const acted = await act(call, {
    idempotencyKey: key,
    signal: at.signal,
    clock: at.clock ?? systemClock,
    timeoutMs: at.timeoutMs,
    keepBlob: at.keepBlob,
    note: (body) => at.owner.append(body),
    ...(onProgress === undefined ? {} : { onProgress: (text) => tell(() => onProgress(call, text)) }),
  });
  if (acted.result === null) return { state: "unknown" };
  const message = resultMessage({ id: call.id, name: call.tool.name }, acted.result);
  const ended = acted.ended.map((process) => processEnded(call.id, process));
  // Nothing is waited for in between: the order of these calls is that of the log.
  const beside = at.alongside?.(call, message) ?? [];
  const body: EntryBody = { type: "message", message };
  const written = await at.owner.append([...ended, ...beside, body], { key: `${key}/outcome` });
  if (written.deduped) return storedOutcome(await at.owner.entry(written.lastId));
  return knownOutcome(acted.result, true);
}

export function knownOutcome({ isError, content, details }: NormalOutput, ran: boolean): KnownOutcome {
  const state = isError ? "failed" : "done";
  const more = details === undefined ? {} : { details };
  return { state, output: textOfBlocks(content), content, ...more, ran };
}

/**
 * Providers number their calls anew in every answer: an id that was used for something else is another call's.
 * `claimed`: this very call was begun before.
 */
async function keyOf(
  at: Running,
  call: ToolCallRequest,
): Promise<{ readonly key: string; readonly claimed: boolean }> {
  const key = effectKey(at, call.id);
  const intent = await at.owner.findAppend(`${key}/intent/1`);
  // Without an intent the outcome alone has to say which call it is of.
  if (intent === null)
    return { key: call.tool.effect === "none" ? otherEffectKey(at, call) : key, claimed: false };
  const first = await at.owner.entry(intent.lastId);
  const same =
    first.type === "tool_intent" &&
    first.call === call.id &&
    first.turn === at.turn &&
    first.step === at.step &&
    first.name === call.tool.name &&
    isSameJson(first.input, call.input);
  if (same) return { key, claimed: true };
  const other = otherEffectKey(at, call);
  return { key: other, claimed: (await at.owner.findAppend(`${other}/intent/1`)) !== null };
}

/** Makes the intent durable; null when an earlier start forbids another. */
async function claim(at: Running, call: ToolCallRequest, key: string): Promise<number | null> {
  const replay = replayOf(call.tool);
  const { turn, step } = at;
  for (let run = 1; run <= RUNS_MAX; run++) {
    const before = await at.owner.findAppend(`${key}/intent/${run}`);
    const made =
      before ??
      (await at.owner.append(
        {
          type: "tool_intent",
          call: call.id,
          name: call.tool.name,
          input: call.input,
          replay,
          idempotencyKey: key,
          turn,
          ...(step === undefined ? {} : { step }),
        },
        { key: `${key}/intent/${run}` },
      ));
    // Another may have been at it at the same time: then it runs there.
    if (before === null && "deduped" in made) return made.deduped ? null : run;
    // Both the record and today's code must say that a repetition is safe.
    const intent = await at.owner.entry(made.lastId);
    if (replay !== "safe" || intent.type !== "tool_intent" || intent.replay !== "safe") return null;
  }
  return null;
}

/** A tool that changes nothing may be run again. */
export function replayOf({ effect, replay }: Tool): "never" | "safe" {
  return effect === "none" ? "safe" : (replay ?? "never");
}

function storedOutcome(entry: Entry): EffectOutcome {
  if (entry.type !== "message" || entry.message.role !== "toolResult") return { state: "unknown" };
  const { isError = false, content } = entry.message;
  const details = detailsOf(entry);
  return knownOutcome({ isError, content, ...(details === undefined ? {} : { details }) }, false);
}
