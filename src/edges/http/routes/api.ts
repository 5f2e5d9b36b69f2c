import { CONVERSATION_ROUTES, type ConversationApi } from "./conversation-api.ts";
import type { AnyRoute, RoutesOf } from "./route.ts";
import { SERVER_ROUTES, type ServerApi } from "./server-api.ts";

/** Every operation, by its name. */
export interface Api extends ServerApi, ConversationApi {}

export type OperationName = keyof Api;

/** The one table of routes: requests are checked by it, the OpenAPI document and the client are made from it. */
export const ROUTES: RoutesOf<Api> = { ...SERVER_ROUTES, ...CONVERSATION_ROUTES };

export const OPERATIONS: readonly (readonly [OperationName, AnyRoute])[] = Object.entries(ROUTES) as [
  OperationName,
  AnyRoute,
][];
