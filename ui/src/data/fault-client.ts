import { type ClientOf, clientOf } from "#edges/http/client/client";
import type { ClientOptions, ClientRoute } from "#edges/http/client/transport";
import type { FaultApi } from "#edges/http/faults/fault-api";

const FAULTS = "/api/agents/{agent}/trouble";
const ROUTES: { readonly [K in keyof FaultApi]: ClientRoute } = {
  strikeAgent: { method: "POST", path: FAULTS, body: ["kind", "phase"], writes: true },
  listTroubles: { method: "GET", path: FAULTS },
  callOffTroubles: { method: "POST", path: `${FAULTS}/call-off`, body: ["kind"], writes: true },
};

/** A client of the operations that a simulated agent adds to its server. */
export function createFaultClient(options: ClientOptions): ClientOf<FaultApi> {
  return clientOf<FaultApi>(ROUTES, options);
}
