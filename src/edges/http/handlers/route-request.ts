import type { Skills } from "#agent/skills/skills";
import type { Clock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import type { RequestAudit } from "#edges/http/access/request-audit";
import type { Grant } from "#edges/http/access/grant";
import type { HttpRequest } from "#edges/http/exchange";
import type { ServedPlace } from "#edges/http/http-options";
import type { RunningReplays } from "#edges/http/replays/running-replays";
import type { Uploads } from "#edges/http/transfers/uploads";
import type { EventStreams } from "#edges/http/events/event-stream";
import type { StoreProbe } from "#edges/http/store-probe";
import type { RunningTurns } from "#edges/http/turns/running-turns";
import type { AgentRecords } from "#transfer/agent-sessions";
import type { Metrics } from "#telemetry/metrics";
import type { OperationShape } from "#edges/http/routes/api";
import type { Download, JsonText } from "#operations/operation";
import type { Views } from "#operations/views/views";

/** What all operations of a server share. */
export interface ServerParts {
  readonly audit: RequestAudit;
  readonly version: string;
  readonly readOnly: boolean;
  readonly clock: Clock;
  /** The folder that new conversations are about. */
  readonly cwd: string | null;
  /** Where skills are found; null: there are none. */
  readonly skills: Skills | null;
  readonly turns: RunningTurns;
  readonly streams: EventStreams;
  readonly uploads: Uploads;
  readonly views: Views;
  readonly replays: RunningReplays;
  readonly probe: StoreProbe;
  /** What is served, as it may be told. */
  readonly place: ServedPlace;
  /** What agents keep of their own sessions on this machine. */
  readonly agentRecords: AgentRecords;
  /** What is counted; null: nothing is. */
  readonly metrics: Metrics | null;
  /** Whether it is about to stop. */
  isDraining(): boolean;
}

/** A request that was checked: by whom, in which space. */
export interface RouteRequest {
  readonly server: ServerParts;
  /** The space of the token. */
  readonly holdfast: Holdfast;
  readonly grant: Grant;
  /** Whether the token still opens anything. */
  readonly isValid: () => Promise<boolean>;
  /** Logs why an answer that had begun ends in the middle. */
  readonly brokeOff: (error: unknown) => void;
  /** The body as it was sent. */
  readonly bodyText: string;
  /** The bytes of an operation that takes such; null for all others. */
  readonly upload: ReadableStream<Uint8Array> | null;
  /** Makes a repetition harmless. */
  readonly key: string | undefined;
  /** As it came: its signal is aborted when the client is gone. */
  readonly received: Pick<HttpRequest, "headers" | "signal">;
}

/** Answers a request with the output of its operation. */
export type Handler<Input> = (input: Input, request: RouteRequest) => Promise<unknown>;

/** A handler for each row of a table. */
export type HandlersOf<Shapes> = {
  readonly [K in keyof Shapes]: Shapes[K] extends OperationShape<infer I, infer R>
    ? (input: I, request: RouteRequest) => Promise<R | JsonText | Download | Response>
    : never;
};
