import { isLogError } from "#log/errors";
import type { Clock } from "./clock.ts";

/** Real time that does not keep the process alive: whoever has nothing else to do may end, and the lease lapses. */
export const idleClock: Pick<Clock, "sleep"> = {
  sleep: (ms, signal) => {
    if (signal.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    timer.unref();
    const wake = (): void => resolve();
    signal.addEventListener("abort", wake, { once: true });
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
    });
  },
};

interface KeepLeaseInput {
  readonly clock: Pick<Clock, "sleep">;
  readonly leaseMs: number;
  readonly renew: () => Promise<void>;
}

/** Renews a lease until it is disposed of, or another has it. */
export function keepLease({ clock, leaseMs, renew }: KeepLeaseInput): Disposable {
  const stop = new AbortController();
  const keep = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(leaseMs / 3, stop.signal);
      if (stop.signal.aborted) return;
      try {
        await renew();
      } catch (error) {
        // Whoever took over has it now; anything else may be over at the next try.
        if (isLogError(error, "fenced")) return;
      }
    }
  };
  if (leaseMs > 0) void keep(); // with 0 there is none to keep
  return { [Symbol.dispose]: () => stop.abort() };
}
