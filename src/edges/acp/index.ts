export { serveAcp } from "./serve.ts";
export { UnattendedAgent } from "./unattended-agent.ts";
export type { EndingTable } from "#turn/rules/classify";
export { COMMON_ENDINGS } from "#vendors/shared-endings";
export { VENDORS } from "#vendors/known-vendors";
export { PLAIN_DIALECT, type Vendor } from "#vendors/vendor";
