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
export { emailIdentity, type Line } from "./replies.ts";
export { Outbox, type Sent } from "./outbox.ts";
export { visit } from "./record.ts";
export { Timeline } from "./timeline.ts";
export { type SimUpstream, simUpstream, type SimUpstreamOptions } from "./simulated-upstream.ts";
export { SimWorld, type SimWorldOptions } from "./world.ts";
