export { dialectOf, type Dialect } from "./agent/dialect.ts";
export type { AgentSpec } from "./agent/upstream.ts";
export { Bridge, type BridgeOptions } from "./host/bridge.ts";
export { serveAcp, type ServeOptions } from "./serve.ts";
