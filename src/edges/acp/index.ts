export { dialectOf, type Dialect } from "./agent/meaning/dialect.ts";
export type { AgentSpec } from "./agent/process/running-agent.ts";
export { isDeadProcess } from "../../conversation/running-process.ts";
export { processName } from "./agent/process/process-name.ts";
export { Bridge, type BridgeOptions } from "./host/bridge.ts";
export { claudeStore } from "./native/claude/claude-store.ts";
export { codexStore } from "./native/codex.ts";
export type { NativeStore } from "./native/native.ts";
export { serveAcp, type ServeOptions } from "./serve.ts";
