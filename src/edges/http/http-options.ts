import type { Skills } from "#agent/skills/skills";
import { type Clock, systemClock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { checkNumbers, withDefaults } from "#log/with-defaults";
import type { AccessKeeper } from "./access/launch-codes.ts";
import type { Grant } from "./access/grant.ts";
import type { StreamLimits } from "./events/event-stream.ts";
import type { ServedReplays } from "./replays/running-replays.ts";
import type { KnownNames } from "./guard/check-sender.ts";
import type { RateLimits } from "./guard/rate-limit.ts";
import type { AgentRecords } from "#transfer/agent-sessions";
import type { Metrics } from "#telemetry/metrics";
import type { ServerLog } from "./server-log.ts";
import type { AgentSources } from "./turns/agent-source.ts";

/** How much one who asks may take of the server. */
export interface HttpLimits extends RateLimits, StreamLimits {
  /** Of a body. */
  readonly bodyBytes: number;
  /** How long a body may take. */
  readonly bodyMs: number;
  /** How long an answer may take until it begins; one that waits for the store longer is refused with 503. */
  readonly answerMs: number;
  /** Of a file that is imported, and how many may be uploaded at the same time. */
  readonly importBytes: number;
  readonly imports: number;
}

/** Where what is served lies. */
export interface ServedPlace {
  /** Its kind and place, without passwords: `sqlite:PATH`. Told to tokens with the right `admin` alone. */
  readonly address: string | null;
  /** How much room it takes; null where nobody can say. */
  readonly bytes?: () => Promise<number | null>;
}

export interface HttpOptions {
  /** What is served: every space of its store, each to the tokens of that space. */
  readonly holdfast: Holdfast;
  /** What the server may be called, see `knownNames`. */
  readonly names: KnownNames;
  /** Told by `health` and the OpenAPI document. */
  readonly version?: string;
  /** Nothing is written, whatever a token may do. */
  readonly readOnly?: boolean;
  /** Who carries turns; without any the server keeps conversations and asks nobody. */
  readonly agents?: AgentSources;
  /** The folder that new conversations are about; a client never names one. */
  readonly cwd?: string | null;
  /** Where skills are found that conversations may activate; none unless given. */
  readonly skills?: Skills | null;
  /** What agents keep of their own sessions on this machine, for the space `default`; none unless given. */
  readonly agentRecords?: AgentRecords;
  /** With what clients may replay; with nothing unless given. */
  readonly replays?: ServedReplays | null;
  /** Where what is served lies; not told unless given. */
  readonly place?: ServedPlace;
  /** The folder with the built pages of the web UI; none are served unless given. */
  readonly ui?: string | null;
  /** Tokens beside those that the store has, such as one of this run. */
  readonly findGrant?: (secret: string) => Promise<Grant | null>;
  /** What the cookie of browsers is called: cookies know no ports, so it should say the port. */
  readonly cookie?: { readonly name: string; readonly secure: boolean };
  /** Keeps what browsers were let in by for a server that takes this one's place; it goes with this one unless given. */
  readonly keptAccess?: AccessKeeper | null;
  readonly limits?: Partial<HttpLimits>;
  /** Addresses or networks (`10.0.0.0/8`) of proxies, whose `X-Forwarded-For` says where a request comes from. */
  readonly trustedProxies?: readonly string[];
  /** Counts requests and is told at `GET /metrics`; what it says of the store it is told as `telemetry` of `openHoldfast`. */
  readonly metrics?: Metrics | null;
  readonly clock?: Clock;
  /** Receives what the server logs: a line for each request, and for each error that its client is told no more of. */
  readonly log?: ServerLog;
}

export type ResolvedHttpOptions = Required<Omit<HttpOptions, "limits">> & { readonly limits: HttpLimits };

const DEFAULT_LIMITS: HttpLimits = {
  perSecond: 200,
  burst: 400,
  bodyBytes: 8_388_608,
  bodyMs: 30_000,
  answerMs: 60_000,
  importBytes: 1_073_741_824,
  imports: 4,
  streams: 4_096,
  streamsPerToken: 1_024,
  streamBytes: 268_435_456,
  streamBytesPerToken: 67_108_864,
  stallMs: 30_000,
  heartbeatMs: 15_000,
};

function httpDefaults(): Omit<ResolvedHttpOptions, "holdfast" | "names" | "limits"> {
  return {
    version: "0.0.0",
    readOnly: false,
    cwd: null,
    agents: {},
    skills: null,
    replays: null,
    place: { address: null },
    ui: null,
    findGrant: async () => null,
    cookie: { name: "holdfast", secure: false },
    metrics: null,
    agentRecords: new Map(),
    keptAccess: null,
    trustedProxies: [],
    clock: systemClock,
    log: () => undefined,
  };
}

/** Says what the caller got wrong before anything is served. */
export function resolveHttpOptions(options: HttpOptions): ResolvedHttpOptions {
  const { limits = {} } = options;
  checkNumbers(limits, {
    perSecond: "limit",
    burst: "limit",
    bodyBytes: "amount",
    bodyMs: "limit",
    answerMs: "limit",
    importBytes: "amount",
    imports: "amount",
    streams: "amount",
    streamsPerToken: "amount",
    streamBytes: "amount",
    streamBytesPerToken: "amount",
    stallMs: "limit",
    heartbeatMs: "limit",
  });
  return { ...withDefaults(httpDefaults(), options), limits: withDefaults(DEFAULT_LIMITS, limits) };
}
