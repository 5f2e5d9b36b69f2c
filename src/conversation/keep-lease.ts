import { isLogError, LogError } from "#log/errors";
import { type Clock, realSleep } from "./clock.ts";

/** Real time that does not keep the process alive: whoever has nothing else to do may end, and the lease lapses. */
export const idleClock: Pick<Clock, "sleep"> = {
  sleep: (ms, signal) => realSleep(ms, signal, true),
};

interface KeepLeaseInput {
  readonly clock: Pick<Clock, "sleep">;
  readonly leaseMs: number;
  readonly renew: () => Promise<void>;
  /** Told once, when it is not kept any more: another has it, or nobody could be asked until it was over. */
  readonly onLost: (why: unknown) => void;
}

/** Renews a lease until it is disposed of, or lost. */
export function keepLease({ clock, leaseMs, renew, onLost }: KeepLeaseInput): Disposable {
  const stop = new AbortController();
  const aThird = (): Promise<void> => clock.sleep(leaseMs / 3, stop.signal);
  let failure: unknown;
  const renewed = async (): Promise<void> => {
    for (; !stop.signal.aborted; await aThird()) {
      try {
        return await renew();
      } catch (error) {
        if (isLogError(error, "fenced") || isLogError(error, "diverged")) throw error;
        failure = error; // it may be over at the next try
      }
    }
  };
  // A store that does not answer keeps a lease as little as one that refuses.
  const lapsed = async (signal: AbortSignal): Promise<void> => {
    await clock.sleep((leaseMs * 2) / 3, signal);
    if (!signal.aborted) throw lapsedLease(leaseMs, failure);
  };
  const keep = async (): Promise<void> => {
    for (await aThird(); !stop.signal.aborted; await aThird()) {
      const over = new AbortController();
      await Promise.race([renewed(), lapsed(over.signal)]).finally(() => over.abort());
    }
  };
  const lost = (why: unknown): void => {
    if (!stop.signal.aborted) onLost(why);
    stop.abort();
  };
  if (leaseMs > 0) keep().catch(lost); // with 0 there is none to keep
  return { [Symbol.dispose]: () => stop.abort() };
}

function lapsedLease(leaseMs: number, cause: unknown): LogError {
  return new LogError(
    "fenced",
    `The lease could not be renewed for ${leaseMs} ms and is over: another may own the conversation by now. What was written is safe, nothing more is written by this one; look at the log and go on from there`,
    { leaseMs },
    { cause },
  );
}
