import { type Clock, systemClock } from "#conversation/clock";
import { LogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import type { DurableStep } from "./durable-step.ts";

/** What an engine has to offer; everything else is made of it. */
export interface StepEngine {
  readonly engine: string;
  readonly taskId: string;
  readonly attempt?: number | null;
  /** Gives the stored result of this name, or runs the body, stores what it gives and gives it back. */
  run(name: string, body: () => Promise<Json>): Promise<Json>;
  /** Tells the engine that the task is at work; refused once it is not this attempt's any more. */
  heartbeat?(): Promise<unknown>;
  /** How long the engine waits for a sign of life; without it none is sent. */
  readonly leaseMs?: number;
  /** Real time unless given. */
  readonly clock?: Clock;
}

/** Durable steps over an engine: every name once, a heartbeat while a body runs, and a signal when that fails. */
export function engineSteps(engine: StepEngine): DurableStep {
  const names = new Set<string>();
  return {
    engine: engine.engine,
    taskId: engine.taskId,
    attempt: engine.attempt ?? null,
    async step<T extends Json>(name: string, body: Parameters<DurableStep["step"]>[1]): Promise<T> {
      if (names.has(name)) throw nameReused(name);
      names.add(name);
      const value = await engine.run(name, async () => {
        using pulse = new Pulse(engine);
        try {
          return await body({ stepKey: name, heartbeat: () => pulse.beat(), signal: pulse.signal });
        } catch (error) {
          // Why the engine let go of it is what the engine is told.
          throw pulse.lost === null ? error : pulse.lost.error;
        }
      });
      return value as T;
    },
  };
}

export function nameReused(name: string): LogError {
  return new LogError(
    "invalid_request",
    `The step "${name}" was run before in this attempt; nothing was run or written. A step is known by its name: give each its own, and make durable steps of a task once`,
    { step: name },
  );
}

/** The signs of life of one step. */
class Pulse implements Disposable {
  readonly #engine: StepEngine;
  readonly #clock: Clock;
  readonly #everyMs: number | null;
  readonly #over: AbortController = new AbortController();
  readonly #stop: AbortController = new AbortController();
  #lastMs: number;
  lost: { readonly error: unknown } | null = null;

  constructor(engine: StepEngine) {
    const { leaseMs, clock = systemClock } = engine;
    this.#engine = engine;
    this.#clock = clock;
    this.#everyMs = leaseMs === undefined || engine.heartbeat === undefined ? null : leaseMs / 3;
    this.#lastMs = clock.steadyMs(); // whoever begins has just been heard of
    if (this.#everyMs !== null) void this.#keep(this.#everyMs);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  async #keep(everyMs: number): Promise<void> {
    while (!this.#over.signal.aborted && this.lost === null) {
      await this.#clock.sleep(everyMs, this.#over.signal);
      if (!this.#over.signal.aborted) await this.beat().catch(() => undefined); // the signal tells it
    }
  }

  async beat(): Promise<void> {
    if (this.lost !== null) throw this.lost.error;
    const atMs = this.#clock.steadyMs();
    if (this.#everyMs === null || atMs - this.#lastMs < this.#everyMs) return;
    this.#lastMs = atMs;
    try {
      await this.#engine.heartbeat?.();
    } catch (error) {
      this.lost ??= { error };
      this.#stop.abort(error);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }
}

/**
 * Durable steps without an engine: what is in the log under a step's key is not done again. Whoever calls once more after a
 * crash, with the same task, goes on where it stopped.
 */
export function directSteps(task: string): DurableStep {
  if (typeof task !== "string" || task.trim() === "")
    throw new LogError("invalid_request", "A task has a name that is the same in every attempt at it");
  return engineSteps({ engine: "direct", taskId: task, run: (_, body) => body() });
}
