import type { Owner } from "../owner.ts";
import type { Clock } from "./host.ts";

/** Renews the lease until it is disposed of. */
export function keepLease(
  owner: Owner,
  { clock, leaseMs }: { readonly clock: Clock; readonly leaseMs: number },
): Disposable {
  const stop = new AbortController();
  const renew = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(leaseMs / 3, stop.signal);
      if (stop.signal.aborted) return;
      await owner.renew();
    }
  };
  // A lost lease shows as a fenced append; the loop only saves others from waiting.
  renew().catch(() => undefined);
  return { [Symbol.dispose]: () => stop.abort() };
}
