/** Time as the runtime sees it; a simulation brings its own. */
export interface Clock {
  /** The date: for what is recorded, shown, or compared with a recorded time. Anybody may set it forward or back. */
  nowMs(): number;
  /** Never goes back and is never set: the difference of two readings is how long something took. From any origin. */
  steadyMs(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const TIMER_MS_MAX = 2_147_483_647; // the longest a timer can wait: one that is asked for more fires at once

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  sleep: (ms, signal) => realSleep(ms, signal),
};

/** `isIdle`: it does not keep the process alive. */
export function realSleep(ms: number, signal: AbortSignal, isIdle: boolean = false): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(ms, TIMER_MS_MAX));
  if (isIdle) timer.unref();
  const wake = (): void => resolve();
  signal.addEventListener("abort", wake, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
  });
}

/** A signal that is never aborted. */
export const NEVER: AbortSignal = new AbortController().signal;

/** Real time that does not keep the process alive: whoever has nothing else to do may end, and the lease lapses. */
export const idleClock: Pick<Clock, "sleep"> = {
  sleep: (ms, signal) => realSleep(ms, signal, true),
};
