import type { Api } from "#edges/http/routes/api";
import type { HandlersOf } from "./asked.ts";
import { CONVERSATION_HANDLERS } from "./conversation-handlers.ts";
import { SERVER_HANDLERS } from "./server-handlers.ts";

/** How each operation is done; one without is no program. */
export const HANDLERS: HandlersOf<Api> = { ...SERVER_HANDLERS, ...CONVERSATION_HANDLERS };
