import { type Clock, idleClock, systemClock } from "#conversation/clock";
import { LogError } from "#log/errors";
import { checkNumbers, withDefaults } from "#log/with-defaults";

/** The most that is held while nobody uses it. */
export interface PoolLimits {
  readonly conversations: number;
  readonly messages: number;
  /** Processes of agents and MCP servers. */
  readonly processes: number;
  /** For how long. */
  readonly idleMs: number;
}

export interface PoolOptions extends Partial<PoolLimits> {
  /**
   * `live`: what is held stays until the host lets it go. `rebuild`: nothing is held after a call. `hybrid`: what is used
   * stays within the limits, the rest is made anew from the log; so unless told. Limits count in `hybrid` alone, and may be given
   * in every mode: a host that chooses the mode by its environment need not choose the other options with it.
   */
  readonly mode?: "live" | "rebuild" | "hybrid";
  /**
   * Where this host is reached, in words of its own choosing. Written with the start of every turn, so that a router can
   * send here what follows; a hint, nothing rests on it.
   */
  readonly address?: string;
  readonly clock?: Clock;
}

export interface SettledPool {
  readonly limits: PoolLimits;
  readonly address: string | null;
  readonly clock: Clock;
}

const NONE = Number.POSITIVE_INFINITY;
const LIVE: PoolLimits = { conversations: NONE, messages: NONE, processes: NONE, idleMs: NONE };
const REBUILD: PoolLimits = { ...LIVE, conversations: 0 };
const HYBRID: PoolLimits = { conversations: 256, messages: 100_000, processes: 32, idleMs: 900_000 };
const ADDRESS_CHARS_MAX = 1_024;

/** Time that does not keep a process alive which has nothing else to do. */
const ownClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => idleClock.sleep(ms, signal),
};

/** Says what the caller got wrong before anything is held. */
export function settlePool(options: PoolOptions): SettledPool {
  const { mode = "hybrid", address = null, clock = ownClock } = options;
  if (mode !== "hybrid" && mode !== "live" && mode !== "rebuild")
    throw wrong("mode", "is live, rebuild or hybrid");
  checkNumbers(options, { conversations: "limit", messages: "limit", processes: "limit", idleMs: "limit" });
  if (
    address !== null &&
    (typeof address !== "string" || address === "" || address.length > ADDRESS_CHARS_MAX)
  )
    throw wrong("address", `is a text of 1 to ${ADDRESS_CHARS_MAX} characters`);
  const { conversations, messages, processes, idleMs } = withDefaults(HYBRID, options);
  const hybrid: PoolLimits = { conversations, messages, processes, idleMs };
  const limits = mode === "live" ? LIVE : mode === "rebuild" ? REBUILD : hybrid;
  return { limits, address, clock };
}

function wrong(name: string, why: string): LogError {
  return new LogError("invalid_request", `The pool's ${name} ${why}; nothing was begun`, { name });
}
