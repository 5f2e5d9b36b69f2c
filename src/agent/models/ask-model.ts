import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { type Clock, systemClock } from "#conversation/clock";
import type { Ending } from "#turn/rules/ending";
import { SilenceWatch } from "#turn/silence-watch";
import { AnswerReader } from "./answer-reader.ts";
import type { AgentModel, ModelOutcome, Finish, ModelAnswer, ModelEvent, ModelRequest } from "./model.ts";
import { brokenStream, endingOf } from "./model-endings.ts";
import { callOptionsOf } from "./request.ts";

export interface AskOptions {
  /** Cancels the call; the outcome contains the blocks received by then. */
  readonly signal: AbortSignal;
  /** Receives streamed events in order. The next part is read after it returns. */
  readonly onEvent?: (event: ModelEvent) => void | Promise<void>;
  /** How long nothing at all may come, from the call on. */
  readonly silenceMs: number;
  readonly clock?: Clock;
  /** How many characters an answer may have: a model that never stops is stopped. */
  readonly answerChars?: number;
}

const ANSWER_CHARS_MAX = 4_000_000; // a million tokens; no model gives as many

/** Asks a model once. Whatever happens to the call is an outcome; only what the listener throws is thrown. */
export async function askModel(
  model: AgentModel,
  request: ModelRequest,
  options: AskOptions,
): Promise<ModelOutcome> {
  const reader = new AnswerReader(model.price);
  const clock = options.clock ?? systemClock;
  const silent = new AbortController();
  using silence = new SilenceWatch({
    clock,
    limitMs: () => options.silenceMs,
    onSilence: () => (silent.abort(), "over"),
  });
  const stop = AbortSignal.any([options.signal, silent.signal]);
  const answerChars = options.answerChars ?? ANSWER_CHARS_MAX;
  let failure: Ending | null = null;
  try {
    const { stream } = await unlessStopped(stop, async () =>
      (model.model as LanguageModelV4).doStream({ ...callOptionsOf(model, request), abortSignal: stop }),
    );
    silence.restart();
    const whole = await readAll(stream, stop, (part) => {
      silence.restart();
      const event = reader.add(part);
      return reader.chars > answerChars ? "enough" : tellListener(options, event);
    });
    if (!whole) failure = neverStops(answerChars);
  } catch (error) {
    if (error instanceof ListenerFailure) throw error.cause;
    failure = endingOf(error, clock.nowMs(), model.id);
  }
  if (options.signal.aborted)
    failure = { class: "cancelled", message: "The call was cancelled", resetAtMs: null };
  else if (silent.signal.aborted)
    failure = brokenStream(`The model sent nothing for ${Math.round(options.silenceMs / 1_000)} s`);
  return outcomeOf(reader, failure, {
    anthropic: model.model.provider.includes("anthropic"),
    nowMs: clock.nowMs(),
  });
}

class ListenerFailure extends Error {}

/** A promise only where the listener makes one: most of a stream's time is spent between its parts. */
function tellListener({ onEvent }: AskOptions, event: ModelEvent | null): Promise<void> | undefined {
  try {
    const done = event === null ? undefined : onEvent?.(event);
    return done instanceof Promise ? done.catch(failed) : undefined;
  } catch (cause) {
    return failed(cause);
  }
}

function failed(cause: unknown): never {
  throw new ListenerFailure("", { cause });
}

function neverStops(chars: number): Ending {
  const message = `The model was stopped after ${chars} characters, the output limit`;
  return { class: "failed", message, resetAtMs: null };
}

/** A model that does not listen to its signal is left behind all the same. */
async function unlessStopped<T>(stop: AbortSignal, act: () => Promise<T>): Promise<T> {
  stop.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onStop = (): void => reject(new Error("Stopped"));
  stop.addEventListener("abort", onStop, { once: true });
  try {
    return await Promise.race([promise, act()]);
  } finally {
    stop.removeEventListener("abort", onStop);
  }
}

/** Hands on every part until the stream ends or is stopped; false when it was told that it is enough. */
async function readAll(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  stop: AbortSignal,
  onPart: (part: LanguageModelV4StreamPart) => Promise<void> | "enough" | undefined,
): Promise<boolean> {
  const reader = stream.getReader();
  // Ends the read that waits, whether or not the stream listens to its signal. Not waited for, for the same reason.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  stop.addEventListener("abort", cancel, { once: true });
  try {
    while (!stop.aborted) {
      const { done, value } = await reader.read();
      if (done) break;
      const next = onPart(value);
      if (next === "enough") return false;
      if (next !== undefined) await next;
    }
    return true;
  } finally {
    stop.removeEventListener("abort", cancel);
    cancel();
  }
}

/** What an answer is worth. Calls are run only where it ended as an answer does, and nothing in it was lost. */
function outcomeOf(
  reader: AnswerReader,
  failure: Ending | null,
  { anthropic, nowMs }: { readonly anthropic: boolean; readonly nowMs: number },
): ModelOutcome {
  const content = reader.content();
  const { usage, finish } = reader;
  const errors = reader.errors.filter((error) => !(anthropic && isUnknownEvent(error)));
  const ending = failure ?? (errors.length > 0 ? endingOf(errors[0], nowMs) : endingOfFinish(finish));
  if (ending !== null) return { answer: null, ending, partial: content, usage };
  const calls = content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
  const finishKind = finishOf(finish, calls.length > 0);
  const brokenCalls = finishKind === "length" || finishKind === "filtered" ? calls : reader.broken;
  const answer: ModelAnswer = { content, brokenCalls, finish: finishKind, usage, warnings: reader.warnings };
  return { answer, ending: null };
}

type FinishReason = AnswerReader["finish"];

/** Events that came after this package was made lose nothing of the answer. */
function isUnknownEvent(error: unknown): boolean {
  return error instanceof Error && error.name === "AI_TypeValidationError";
}

function endingOfFinish(finish: FinishReason): Ending | null {
  if (finish === null)
    return brokenStream("The model's service closed the connection before the answer was complete");
  if (finish.unified === "interrupted") return brokenStream("The model's service cut the answer off");
  if (finish.unified !== "error") return null;
  return brokenStream(
    `The model's answer ended with an error${finish.raw === undefined ? "" : ` (${finish.raw})`}`,
  );
}

function finishOf(finish: FinishReason, hasCalls: boolean): Finish {
  if (finish?.raw === "pause_turn") return "paused";
  if (finish?.unified === "length") return "length";
  if (finish?.unified === "content-filter") return "filtered";
  // An unknown finish reason is accepted for text, but not for calls.
  if (finish?.unified === "other" && hasCalls) return "length";
  return hasCalls ? "calls" : "stop";
}
