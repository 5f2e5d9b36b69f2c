/* oxlint-disable no-console */
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { openHoldfast } from "../src/index.ts";
import { Agent } from "../src/agent/index.ts";
import { Metrics, openTelemetry } from "../src/telemetry/index.ts";

// Your SDK, with your exporter; this one prints what it is given.
const exporter = {
  export: (spans: readonly { name: string; attributes: object }[]) => {
    for (const { name, attributes } of spans) console.log(name, attributes);
  },
  shutdown: async () => undefined,
};
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });

const metrics = new Metrics();
const holdfast = await openHoldfast({
  store: "memory:",
  telemetry: [await openTelemetry({ tracer: provider.getTracer("my-app") }), metrics],
});
const agent = new Agent(holdfast, { model: "sim", instructions: false });
const { id } = await holdfast.create();
await agent.send(id, "Good morning");

console.log(metrics.text().match(/^holdfast_turns_total.*$/m)?.[0]);
await agent.close();
await holdfast.close();
