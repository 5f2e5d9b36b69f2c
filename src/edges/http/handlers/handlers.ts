import type { OperationName, OwnApi } from "#edges/http/routes/api";
import type { AnyHandler, HandlersOf } from "./asked.ts";
import { OPERATION_HANDLERS } from "./operation-handlers.ts";
import { REPLAY_HANDLERS } from "#edges/http/replays/replay-handlers";
import { EVENT_HANDLERS } from "#edges/http/events/event-handlers";
import { SERVER_HANDLERS } from "./server-handlers.ts";

const OWN_HANDLERS: HandlersOf<OwnApi> = {
  ...SERVER_HANDLERS,
  ...EVENT_HANDLERS,
  ...REPLAY_HANDLERS,
};

/** How each operation is done; one without does not compile. */
export const HANDLERS: { readonly [K in OperationName]: AnyHandler } = {
  ...(OWN_HANDLERS as object as { readonly [K in keyof OwnApi]: AnyHandler }),
  ...OPERATION_HANDLERS,
};
