import type { AnyRoute, RoutesOf } from "#edges/http/routes/route";
import { answer, flag, list, named, object, open, optional, text } from "#edges/http/routes/value-schema";

/** A fault that waits for a turn to reach its phase. */
export interface WaitingTrouble {
  readonly kind: string;
  readonly phase: string;
}

/** Operations that exist only on a server of a simulated agent: they are neither in the OpenAPI document nor in the client. */
export interface FaultApi {
  strikeAgent: {
    readonly params: { readonly agent: string };
    readonly body: { readonly kind: string; readonly phase?: string };
    readonly response: {
      readonly agent: string;
      readonly kind: string;
      readonly phase: string;
      readonly deduped: boolean;
    };
  };
  listTroubles: {
    readonly params: { readonly agent: string };
    readonly response: { readonly agent: string; readonly waiting: readonly WaitingTrouble[] };
  };
  callOffTroubles: {
    readonly params: { readonly agent: string };
    readonly body: { readonly kind?: string };
    readonly response: { readonly agent: string; readonly calledOff: readonly WaitingTrouble[] };
  };
}

const group = "Simulated agent";
const ofAgent = object<{ readonly agent: string }>({ agent: text({ min: 1, max: 100 }) });
const waitingTroubles = list(named("WaitingTrouble", open<WaitingTrouble>({ kind: text(), phase: text() })));

const FAULT_ROUTES: RoutesOf<FaultApi> = {
  strikeAgent: {
    method: "POST",
    path: "/api/agents/{agent}/trouble",
    right: "write",
    writes: true,
    group,
    summary: "Injects a fault into the next turn of a simulated agent in this space",
    params: ofAgent,
    body: object<FaultApi["strikeAgent"]["body"]>({
      kind: text({ min: 1, max: 100, about: "one of the agent's `troubles`" }),
      phase: optional(
        text({ min: 1, max: 100, about: "the phase of the turn (default: the first possible one)" }),
      ),
    }),
    response: answer<FaultApi["strikeAgent"]["response"]>({
      agent: text(),
      kind: text(),
      phase: text(),
      deduped: flag(),
    }),
  },
  listTroubles: {
    method: "GET",
    path: "/api/agents/{agent}/trouble",
    right: "read",
    group,
    summary: "Lists the faults that wait for a turn of a simulated agent in this space",
    params: ofAgent,
    response: answer<FaultApi["listTroubles"]["response"]>({ agent: text(), waiting: waitingTroubles }),
  },
  callOffTroubles: {
    method: "POST",
    path: "/api/agents/{agent}/trouble/call-off",
    right: "write",
    writes: true,
    group,
    summary: "Cancels the faults that wait, all or those of a kind",
    params: ofAgent,
    body: object<FaultApi["callOffTroubles"]["body"]>({
      kind: optional(text({ min: 1, max: 100, about: "default: all" })),
    }),
    response: answer<FaultApi["callOffTroubles"]["response"]>({ agent: text(), calledOff: waitingTroubles }),
  },
};

export const FAULT_OPERATIONS: readonly (readonly [keyof FaultApi, AnyRoute])[] = Object.entries(
  FAULT_ROUTES,
) as [keyof FaultApi, AnyRoute][];
