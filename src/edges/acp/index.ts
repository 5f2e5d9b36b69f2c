export type { AgentCommand } from "./agent/process/agent-process.ts";
export type { AgentSpec } from "./agent/process/running-agent.ts";
export { isDeadProcess } from "#turn/running-process";
export { processName } from "./agent/process/process-name.ts";
export type { AgentLoop } from "./loop/loop-agent.ts";
export { Bridge, type BridgeAgent, type BridgeOptions } from "./host/bridge.ts";
export { UNKNOWN_VENDOR, vendorOf, VENDORS } from "#vendors/known-vendors";
export type { NativeSession, NativeStore, NewTranscript } from "#vendors/records/native-store";
export {
  type Dialect,
  type EndingExample,
  type FailureSigns,
  PLAIN_DIALECT,
  type ProgramMessages,
  type RecordReader,
  type Vendor,
  type VendorRecords,
} from "#vendors/vendor";
export type { LoadedLoop } from "./bridge-turns.ts";
export { UnattendedAgent, type UnattendedOptions } from "./unattended-agent.ts";
export { loadLoop, serveAcp, type ServeOptions } from "./serve.ts";
