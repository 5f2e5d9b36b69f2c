import type { OperationName, OwnApi } from "#edges/http/routes/api";
import type { AnyHandler, HandlersOf } from "./asked.ts";
import { OPERATION_HANDLERS } from "./operation-handlers.ts";
import { ENTRY_HANDLERS } from "./entry-handlers.ts";
import { FIGURE_HANDLERS } from "#edges/http/figures/figure-handlers";
import { REPLAY_HANDLERS } from "#edges/http/replays/replay-handlers";
import { TRANSFER_HANDLERS } from "#edges/http/transfers/transfer-handlers";
import { EVENT_HANDLERS } from "#edges/http/events/event-handlers";
import { SERVER_HANDLERS } from "./server-handlers.ts";

const OWN_HANDLERS: HandlersOf<OwnApi> = {
  ...SERVER_HANDLERS,
  ...ENTRY_HANDLERS,
  ...EVENT_HANDLERS,
  ...TRANSFER_HANDLERS,
  ...FIGURE_HANDLERS,
  ...REPLAY_HANDLERS,
};

/** How each operation is done; one without does not compile. */
export const HANDLERS: { readonly [K in OperationName]: AnyHandler } = {
  ...(OWN_HANDLERS as object as { readonly [K in keyof OwnApi]: AnyHandler }),
  ...OPERATION_HANDLERS,
};
