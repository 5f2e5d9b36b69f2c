import type { ReplayEvent } from "#agent/replay/replay-options";
import { addUsage, NO_USAGE } from "#log/add-usage";
import type { UsageTotals } from "#log/summary";
import { usageJson } from "#transfer/views/diff-json";

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
