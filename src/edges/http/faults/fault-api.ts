import { answer, flag, list, named, open, optional, text } from "#operations/schemas";
import type { EdgeShapes } from "#edges/http/routes/api";
import { edgeRow } from "#edges/http/routes/edge-rows";
import { routeOf } from "#edges/http/routes/operation-route";
import type { Route } from "#edges/http/routes/route";

/** A fault that waits for a turn to reach its phase. */
export interface WaitingTrouble {
  readonly kind: string;
  readonly phase: string;
}

const row = { group: "Simulated agent", access: "write", kind: "act" } as const;
const agent = text({ min: 1, max: 100 });
const waitingTroubles = list(named("WaitingTrouble", open<WaitingTrouble>({ kind: text(), phase: text() })));

/** Rows that exist only on a server of a simulated agent: they are neither in the OpenAPI document nor in the client. */
const FAULT_ROWS = {
  strikeAgent: edgeRow({
    ...row,
    http: "POST /api/agents/{agent}/trouble",
    summary: "Inject a fault into the next turn of a simulated agent in this space",
    input: {
      agent,
      kind: text({ min: 1, max: 100, about: "one of the agent's `troubles`" }),
      phase: optional(
        text({ min: 1, max: 100, about: "the phase of the turn (default: the first possible one)" }),
      ),
    },
    output: answer({ agent: text(), kind: text(), phase: text(), deduped: flag() }),
  }),
  listTroubles: edgeRow({
    ...row,
    access: "read",
    kind: "read",
    http: "GET /api/agents/{agent}/trouble",
    summary: "List the faults that wait for a turn of a simulated agent in this space",
    input: { agent },
    output: answer({ agent: text(), waiting: waitingTroubles }),
  }),
  callOffTroubles: edgeRow({
    ...row,
    http: "POST /api/agents/{agent}/trouble/call-off",
    summary: "Cancel the waiting faults, all or those of a kind",
    input: { agent, kind: optional(text({ min: 1, max: 100, about: "default: all" })) },
    output: answer({ agent: text(), calledOff: waitingTroubles }),
  }),
};

export type FaultApi = EdgeShapes<typeof FAULT_ROWS>;

export const FAULT_OPERATIONS: readonly (readonly [keyof FaultApi, Route])[] = (
  Object.keys(FAULT_ROWS) as (keyof FaultApi)[]
).map((name) => [name, routeOf(FAULT_ROWS[name])]);
