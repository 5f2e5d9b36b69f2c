import type { Json } from "#log/json/json-text";
import { checkNumbers, withDefaults } from "#log/with-defaults";
import type { PriorBudget } from "./rules/prior-budget.ts";
import { systemIdsAndTime } from "#store/prepare";
import { isDeadProcess } from "#turn/running-process";
import { LINKS_TRIED_MAX } from "./sessions/choose.ts";
import { type Clock, systemClock } from "#conversation/clock";
import type { Upstream } from "./upstream.ts";
import type { Host } from "#turn/host";
import { asPool, type Pool, type PoolOptions } from "#turn/pool";
import type { WireMessage } from "#turn/wire-message";

export interface RuntimeOptions {
  /** The agents a conversation may be carried by; the first is the default. */
  readonly upstreams: readonly [Upstream, ...Upstream[]];
  readonly clock?: Clock;
  /**
   * Names this host; whoever has the same name may take its conversations over. Unless said otherwise it names this
   * process and this runtime.
   */
  readonly writer?: string;
  /**
   * Whether the holder of a lease is known to be dead, so that nobody needs to wait for the lease to lapse. Unless said
   * otherwise: a process of this machine that is gone.
   */
  readonly isDead?: (writer: string) => Promise<boolean>;
  readonly leaseMs?: number;
  /** How long a cancelled prompt may take to end before control returns without it. */
  readonly cancelMs?: number;
  /** How long an agent may take to open or resume a session. */
  readonly resumeMs?: number;
  /** How long an agent may say nothing before it is taken for dead, or told of. */
  readonly silenceMs?: number;
  /** The same while one of its tools runs. */
  readonly toolSilenceMs?: number;
  /** `stop`: a silent agent is stopped. `tell`: people are told, and it goes on. */
  readonly onSilence?: "stop" | "tell";
  /** How much an upstream is told that may not remember; null: as much as its model has room for. */
  readonly prior?: PriorBudget | null;
  /** How many links are tried for resume; the chain itself is never cut. */
  readonly linksTried?: number;
  /**
   * What is held of conversations between turns: here the agents' sessions, with a process each. Unless told, they are held
   * until they are released. A pool that is handed in may be shared, and is closed by whoever made it.
   */
  readonly pool?: Pool | PoolOptions;
  readonly newId?: () => string;
}

export type Settled = Required<Omit<RuntimeOptions, "writer" | "pool">> &
  Pick<RuntimeOptions, "writer"> & { readonly pool: Pool };

const DEFAULTS: Omit<Settled, "upstreams" | "pool" | "writer"> = {
  clock: systemClock,
  isDead: isDeadProcess,
  leaseMs: 30_000,
  cancelMs: 5_000,
  resumeMs: 60_000,
  silenceMs: 600_000,
  toolSilenceMs: 3_600_000,
  onSilence: "stop",
  prior: null,
  linksTried: LINKS_TRIED_MAX,
  newId: () => systemIdsAndTime.newId(),
};

/** Says what the caller got wrong before anything is begun. */
export function settleOptions(options: RuntimeOptions): Settled {
  checkNumbers(options, {
    leaseMs: "amount",
    cancelMs: "limit",
    resumeMs: "limit",
    silenceMs: "limit",
    toolSilenceMs: "limit",
    linksTried: "amount",
  });
  return { ...withDefaults(DEFAULTS, options), pool: asPool(options.pool ?? { mode: "live" }) };
}

/** Which agent is meant; the first when nothing is said. */
export interface AgentOptions {
  readonly agent?: string;
  readonly account?: string;
}

/**
 * Where a prompt goes on from, where that is not the end of the branch. Nothing is destroyed: what is left stays in the
 * log, and so does the session that carried it. Files and other effects outside are not undone.
 */
export type From =
  /** Before this message of the user's: the prompt takes its place. */
  | { readonly edit: string }
  /** Where this session of the chain stood when it was last used, and in that session. */
  | { readonly upstream: string }
  /** Where it stands, in a fork of the agent's session; the one that is forked can be come back to. */
  | { readonly fork: true };

/** Which agent gets a session ready, and who is told. */
export interface ConnectOptions extends AgentOptions, Host {}

/** What may be said of any turn: who carries it, who is told and asked, and under which key it happens once. */
export interface TurnOptions extends ConnectOptions {
  /** What to do when the agent is limited: wait for people, carry on with the next agent, or ask the host. */
  readonly whenLimited?: "park" | "switch" | "ask";
  /** Tries a limited agent before its reset time. */
  readonly force?: boolean;
  /**
   * Makes a retry of the request harmless: the same key is the same turn. A finished one is answered with what became of
   * it, one that runs here is waited for, one that runs elsewhere is `busy`, one of a dead process has ended interrupted.
   */
  readonly key?: string;
}

export interface SendOptions extends TurnOptions {
  /** Kept with the message and never sent to a model. */
  readonly details?: Json;
  /** The same prompt as the host sent it, handed to the upstream as it is. */
  readonly wire?: WireMessage;
  readonly from?: From;
}
