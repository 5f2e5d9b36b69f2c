import { type Clock, systemClock } from "#conversation/clock";
import { whileAlive } from "#testing/timeline";

/**
 * Real time for a host that a test kills in its own process. From `die` on, no time passes for that host: it renews no lease,
 * and nothing it waits for comes. Without this the lease would be lost while a later test runs, and end a turn that nobody awaits.
 */
export interface DyingClock extends Clock {
  die(): void;
}

export function dyingClock(): DyingClock {
  const death = new AbortController();
  return {
    nowMs: () => systemClock.nowMs(),
    steadyMs: () => systemClock.steadyMs(),
    sleep: (ms, signal) =>
      whileAlive(systemClock.sleep(ms, AbortSignal.any([signal, death.signal])), death.signal),
    die: () => death.abort(),
  };
}
