import { trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, expect, test } from "vitest";
import { createClient } from "#edges/http/client/index";
import { holdfastHere } from "../cli-here.ts";

afterEach(() => trace.disable());

/** Runs `serve` with these options until what is done with it is done. */
async function serving(
  args: readonly string[],
  use: (server: { readonly url: string; readonly token: string }) => Promise<void>,
): Promise<{ readonly status: number | null; readonly err: string }> {
  const stop = new AbortController();
  const started = Promise.withResolvers<{ readonly url: string; readonly token: string }>();
  const ended = holdfastHere("memory:", ["serve", ...args], {
    interrupt: stop.signal,
    onOut: (text) => started.resolve(text.startsWith("{") ? JSON.parse(text) : { url: "", token: "" }),
  });
  await use(await started.promise);
  stop.abort();
  return ended;
}

test("serve --otel makes spans for the SDK that was registered, and figures at /metrics", async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  trace.setGlobalTracerProvider(provider);
  const { status } = await serving(
    ["--otel", "--json", "--print-link", "--model", "sim"],
    async ({ url, token }) => {
      const client = createClient({ url, token });
      const { conversation } = await client.createConversation({});
      for await (const _ of client.turnEvents(await client.send({ conversation, content: "hello" })));
      const figures = new TextDecoder().decode(await client.getMetrics());
      expect(figures).toContain('holdfast_turns_total{outcome="completed",class="completed"} 1');
    },
  );
  expect(status).toBe(0);
  expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(["chat sim", "invoke_agent"]);
});

test("serve --otel without an SDK says that spans reach nobody; without --otel nothing is said", async () => {
  const { err } = await serving(["--otel"], async () => undefined);
  expect(err).toContain("--import");
  expect((await serving([], async () => undefined)).err).not.toContain("--import");
});
