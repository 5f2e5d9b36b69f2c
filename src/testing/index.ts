export {
  type Chance,
  type Fault,
  FAULT_KINDS,
  FAULT_PHASES,
  type FaultKind,
  FaultPlan,
  type Phase,
  PHASES,
} from "./faults.ts";
export { emailIdentity, type Line } from "./agent/replies.ts";
export { Outbox, type Sent } from "./agent/outbox.ts";
export { visit } from "./agent/sim-record.ts";
export { judgeConversation, judgeLog } from "./judge/judge.ts";
export { judgeContext } from "./judge/context-judge.ts";
export { LogJudge, type Witness } from "./judge/log-judge.ts";
export { recallOf } from "./judge/recall.ts";
export { type AppendFault, AppendFaults } from "./append-faults.ts";
export { RealTimeline } from "./real-timeline.ts";
export { Timeline } from "./timeline.ts";
export { type SimUpstream, simUpstream, type SimUpstreamOptions } from "./agent/simulated-upstream.ts";
export { SimWorld, type SimWorldOptions } from "./world.ts";
export {
  type GoldenRecord,
  type RecordsCase,
  recordsContract,
  type RecordsSubject,
} from "./vendors/records-cases.ts";
export { type VendorCase, vendorContract } from "./vendors/vendor-cases.ts";
