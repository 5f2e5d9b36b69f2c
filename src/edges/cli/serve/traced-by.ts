import { type Call, remark } from "#edges/cli/command";
import type { StoreObserver } from "#store/observe-store";

/** Spans for `--otel`: they go to whichever SDK was loaded before the command, as `node --import` does. */
export async function tracedBy(call: Call): Promise<readonly StoreObserver[]> {
  if (!call.flags.has("otel")) return [];
  const { hasTracerProvider, openTelemetry } = await import("#telemetry/open-telemetry");
  const observer = await openTelemetry();
  if (!(await hasTracerProvider()) && !call.json)
    await remark(
      call,
      "No OpenTelemetry SDK is registered, so spans reach nobody. Load one first, such as NODE_OPTIONS='--import ./otel.mjs'.",
    );
  return [observer];
}
