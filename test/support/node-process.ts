/**
 * A node of several that share a store: it carries one turn, whose tool acts once and then waits until a line comes in. `send` begins
 * the turn; `continue` takes over whatever another node left, once it may. Its clock is wrong by as much as it is told, and it
 * takes nobody for dead. SIGTERM closes it. A line of JSON tells of each thing that happens.
 */
import { appendFileSync, writeSync } from "node:fs";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Agent } from "#agent/agent";
import { isLogError, openHoldfast, Runtime } from "#index";
import { ScriptedModel } from "../agent/scripted-model.ts";
import { actingUpstream } from "./acting-upstream.ts";
import { skewDate } from "./skewed-date.ts";

const text = { type: "string", default: "" } as const;
const { values } = parseArgs({
  options: {
    store: text,
    kind: text,
    id: text,
    verb: text,
    outbox: text,
    skew: { type: "string", default: "0" },
    lease: { type: "string", default: "30000" },
    grace: { type: "string", default: "0" },
  },
});

skewDate(Number(values.skew));

function tell(line: { readonly [name: string]: unknown }): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** Done at once; then nobody hears of it until it is let go on, or told to stop. */
async function act(signal: AbortSignal): Promise<void> {
  appendFileSync(values.outbox, `${values.id} ${values.kind}\n`, { flush: true });
  tell({ acting: true });
  await once(process.stdin, "data", { signal });
}

const cancelled = new AbortController();

const options = { leaseMs: Number(values.lease), isDead: async (): Promise<boolean> => false };
await using holdfast = await openHoldfast({ store: values.store });
const carrier =
  values.kind === "loop"
    ? new Agent(holdfast, {
        ...options,
        model: new ScriptedModel(
          Array.from({ length: 4 }, () => ({ prompt }) => {
            const isActed = prompt.some(({ role }) => role === "tool");
            return isActed ? { text: "It is over." } : { calls: [{ id: "1", name: "act", input: {} }] };
          }),
        ),
        tools: [{ name: "act", run: async (_, { signal }) => (await act(signal), "acted") }],
        permission: () => "allow",
        instructions: false,
      })
    : new Runtime(holdfast, {
        ...options,
        upstreams: [
          actingUpstream(
            async function* () {
              const call = { type: "tool", call: "1", name: "act", input: {} } as const;
              if (values.verb === "send") {
                yield { ...call, state: "started" };
                await act(cancelled.signal);
                yield { ...call, state: "done", output: "acted" };
              }
              yield { type: "text", text: "It is over." };
            },
            { cancel: async () => cancelled.abort() },
          ),
        ],
      });

async function carry(): Promise<void> {
  const ask = { onEvent: (): void => undefined };
  for (;;) {
    try {
      const { outcome, text: said } = await (values.verb === "send"
        ? carrier.send(values.id, "act", ask)
        : carrier.continue(values.id, ask));
      return tell({ outcome, said });
    } catch (error) {
      if (!isLogError(error)) throw error;
      tell({ code: error.code });
      const waitMs = error.details["retryAfterMs"];
      if (values.verb === "send" || error.code !== "busy" || typeof waitMs !== "number") return;
      await pause(waitMs);
    }
  }
}

process.once("SIGTERM", () => {
  void carrier.close({ graceMs: Number(values.grace) }).then(() => tell({ closed: true }));
});
await carry();
process.stdin.destroy();
