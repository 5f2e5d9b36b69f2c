export { StoredTokens } from "./access/stored-tokens.ts";
export { knownNames } from "./guard/check-sender.ts";
export { HttpHandler } from "./http-handler.ts";
export type { HttpOptions } from "./http-options.ts";
export { listen } from "./node/listen.ts";
export { openApiDocument } from "./routes/open-api.ts";
export type { ServerLog } from "./server-log.ts";
export type { AgentSource, AgentSources } from "./turns/agent-source.ts";
export type { Turns } from "#turn/turns";
