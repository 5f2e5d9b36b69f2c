import type { OperationName } from "#edges/http/routes/api";
import { EDGE_HANDLERS } from "./edge-handlers.ts";
import { OPERATION_HANDLERS } from "./operation-handlers.ts";
import type { Handler } from "./route-request.ts";

/** How each operation is done; one without does not compile. */
export const HANDLERS: { readonly [K in OperationName]: Handler<object> } = {
  ...OPERATION_HANDLERS,
  ...(EDGE_HANDLERS as object as { readonly [K in keyof typeof EDGE_HANDLERS]: Handler<object> }),
};
