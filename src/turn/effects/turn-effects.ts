import { LogError } from "#log/errors";
import { isSameJson } from "#log/json/json-fields";
import type { TurnEvent } from "#turn/rules/turn-event";
import { type Clock, systemClock } from "#conversation/clock";
import type { ContentBlock } from "#log/message";
import { act, type ToolCallRequest } from "./act.ts";
import { processEnded } from "./left-processes.ts";
import {
  effectKey,
  type EffectOutcome,
  type EffectStep,
  heardAgain,
  knownOutcome,
  onceEach,
  replayOf,
  unlikeCalls,
} from "./run-effects.ts";
import type { KeepBlob } from "./tool-output.ts";
import type { OwnEffect, Recorder } from "#turn/recorder";

interface TurnPlace {
  readonly turn: string;
  readonly cancelled: AbortSignal;
  /** Passes an event of the turn on and records it; resolves when it is written. */
  record(event: TurnEvent, own: OwnEffect): Promise<unknown>;
  /** Writes a fact of a call; resolves when it is written. */
  readonly note: Recorder["note"];
  readonly keepBlob?: KeepBlob;
  readonly clock?: Clock;
}

/** Made once: an error with its stack for every turn costs more than the rest of its end. */
const OVER = new DOMException("The turn is over", "AbortError");

interface CallRecord {
  readonly call: ToolCallRequest;
  readonly outcome: Promise<EffectOutcome>;
}

/**
 * Tools of one's own inside a turn, whoever carries it: each at most once, its intent durable before it runs, its
 * outcome before anybody hears of it. They are part of the turn like any other tool: in what people see, in
 * the reply and in the ledger.
 */
export class TurnEffects implements Disposable {
  readonly #at: TurnPlace;
  readonly #over = new AbortController();
  readonly #calls = new Map<string, CallRecord>();

  constructor(at: TurnPlace) {
    this.#at = at;
  }

  async run(calls: readonly ToolCallRequest[], where: EffectStep = {}): Promise<readonly EffectOutcome[]> {
    return onceEach(calls, (call) => this.#run(call, where.step));
  }

  async #run(call: ToolCallRequest, requestedStep: number | undefined): Promise<EffectOutcome> {
    // A provider that numbers anew in every answer: an id that was used for something else is another call's.
    let step = requestedStep;
    let record = this.#calls.get(effectKey({ turn: this.#at.turn, step }, call.id));
    while (record !== undefined && !isSame(record.call, call)) {
      if (requestedStep !== undefined) throw unlikeCalls(call.id);
      step = (step ?? 0) + 1;
      record = this.#calls.get(effectKey({ turn: this.#at.turn, step }, call.id));
    }
    if (record !== undefined) {
      return heardAgain(await record.outcome);
    }
    const { cancelled, turn } = this.#at;
    if (cancelled.aborted || this.#over.signal.aborted)
      throw new LogError("invalid_request", `The turn has ended, so ${call.tool.name} did not run`, { turn });
    const outcome = this.#start(call, step);
    this.#calls.set(effectKey({ turn, step }, call.id), { call, outcome });
    return outcome;
  }

  async #start(call: ToolCallRequest, step: number | undefined): Promise<EffectOutcome> {
    const { turn, cancelled } = this.#at;
    const idempotencyKey = effectKey({ turn, step }, call.id);
    const own: OwnEffect = { replay: replayOf(call.tool), idempotencyKey };
    const { name } = call.tool;
    const place = step === undefined ? {} : { step };
    const event = { type: "tool", call: call.id, ...place, name, input: call.input } as const;
    await this.#at.record({ ...event, state: "started" }, own);
    // Whoever stopped the turn meanwhile does not get the act.
    if (cancelled.aborted || this.#over.signal.aborted) return { state: "unknown" };
    const signal = AbortSignal.any([cancelled, this.#over.signal]);
    const { keepBlob, clock = systemClock, note } = this.#at;
    const acted = await act(call, { idempotencyKey, signal, clock, keepBlob, note });
    // What came too late for its turn is in no reply; nobody is told that it is.
    if (this.#over.signal.aborted || acted.result === null) return { state: "unknown" };
    const outcome = knownOutcome(acted.result, true);
    const { state, output, content, details } = outcome;
    const more = {
      ...(isWords(content) ? {} : { content }),
      ...(details === undefined ? {} : { details }),
    };
    for (const process of acted.ended) void note(processEnded(call.id, process)).catch(() => undefined);
    await this.#at.record({ ...event, state, output, ...more }, own);
    return outcome;
  }

  /** The turn is over: nothing starts any more, and what runs is asked to stop. */
  [Symbol.dispose](): void {
    this.#over.abort(OVER);
  }
}

/** Its words are all there is. */
function isWords(content: readonly ContentBlock[]): boolean {
  return content.length === 1 && content[0]?.type === "text";
}

function isSame(one: ToolCallRequest, other: ToolCallRequest): boolean {
  return one.tool.name === other.tool.name && isSameJson(one.input, other.input);
}
