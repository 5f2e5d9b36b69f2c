export { Metrics } from "./metrics.ts";
export { openTelemetry } from "./open-telemetry.ts";
