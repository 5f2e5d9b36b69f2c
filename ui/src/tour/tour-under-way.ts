import { type Signal, signal } from "@preact/signals";
import type { TourStep } from "./tour-steps.ts";

export interface Tour {
  readonly steps: readonly TourStep[];
  readonly at: number;
  /** The conversation that it makes; null until it is needed. */
  readonly conversation: string | null;
  /** The simulated agent, where the server has it. */
  readonly agent: string | null;
  readonly isBusy: boolean;
}

/** The tour that is under way; null while none is. */
export const tour: Signal<Tour | null> = signal(null);

/** What it says and does is loaded when it is wanted. */
export async function startTour(): Promise<void> {
  await (await import("./tour-state.ts")).beginTour();
}
