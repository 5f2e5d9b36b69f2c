export { StoredTokens } from "./access/stored-tokens.ts";
export { knownNames } from "./guard/check-sender.ts";
export { HttpHandler } from "./http-handler.ts";
export type { HttpOptions } from "./http-options.ts";
export { listen } from "./node/listen.ts";
export type { ServerLog } from "./server-log.ts";
export type { AgentSource } from "./turns/agent-source.ts";
export type { Turns } from "#turn/turns";
