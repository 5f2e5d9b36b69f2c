import { REPLAY_ROUTES, type ReplayApi } from "#edges/http/replays/replay-api";
import { OPERATION_LIST, type OPERATIONS as OPERATION_TABLE } from "#operations/table";
import { routeOf, type ShapesOf } from "./operation-route.ts";
import type { AnyRoute, RoutesOf } from "./route.ts";
import { EVENT_ROUTES, type EventApi } from "#edges/http/events/event-api";
import { SERVER_ROUTES, type ServerApi } from "./server-api.ts";

/** Operations that this edge still declares itself. */
export interface OwnApi extends ServerApi, EventApi, ReplayApi {}

/** Every operation, by its name. */
export interface Api extends OwnApi, ShapesOf<typeof OPERATION_TABLE> {}

export type OperationName = keyof Api;

const OWN_ROUTES: RoutesOf<OwnApi> = {
  ...SERVER_ROUTES,
  ...EVENT_ROUTES,
  ...REPLAY_ROUTES,
};

/** The one table of routes: requests are checked by it, the OpenAPI document and the client are made from it. */
export const ROUTES: { readonly [K in OperationName]: AnyRoute } = {
  ...(Object.fromEntries(OPERATION_LIST.map(([name, operation]) => [name, routeOf(operation)])) as {
    readonly [K in keyof typeof OPERATION_TABLE]: AnyRoute;
  }),
  ...OWN_ROUTES,
};

export const OPERATIONS: readonly (readonly [OperationName, AnyRoute])[] = Object.entries(ROUTES) as [
  OperationName,
  AnyRoute,
][];
