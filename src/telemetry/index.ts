export { hasTracerProvider, openTelemetry, type OpenTelemetryOptions } from "./open-telemetry.ts";
export { observeStore, type StoreFailure, type StoreObserver, type WrittenBatch } from "#store/observe-store";
export { Metrics } from "./metrics.ts";
export { type Family, gauge, type Labels, METRICS_TYPE, type Sample } from "./metrics-text.ts";
