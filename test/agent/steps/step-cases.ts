import type { TestContext } from "vitest";
import { HEARTBEAT_CASES } from "./heartbeat-cases.ts";
import type { OpenLane } from "./lane.ts";
import type { LogPlace } from "./log-place.ts";
import { REPLAY_CASES } from "./replay-cases.ts";
import { type StepCase, StepRig } from "./step-rig.ts";
import { STORE_CASES } from "./store-cases.ts";
import { ZOMBIE_CASES } from "./zombie-cases.ts";

const WHY = {
  keeps: "there is no engine that keeps results of steps",
  beats: "the engine's worker tells by itself that it is at work",
} as const;

const CASES: readonly StepCase[] = [...REPLAY_CASES, ...ZOMBIE_CASES, ...STORE_CASES, ...HEARTBEAT_CASES];

/** Every promise, by a name that says which fault of the list it is about. */
export const stepCases: readonly (readonly [string, StepCase])[] = CASES.map((promise) => [
  promise.scenario === undefined ? promise.name : `${promise.name} (scenario ${promise.scenario})`,
  promise,
]);

export async function checkCase(
  promise: StepCase,
  { open, log }: { readonly open: OpenLane; readonly log?: LogPlace },
  { skip }: TestContext,
): Promise<void> {
  await using rig = await StepRig.start(open, log);
  const { needs } = promise;
  if (needs !== undefined && !rig.lane[needs]) skip(WHY[needs]);
  await promise.run(rig);
}
