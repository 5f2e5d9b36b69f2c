/** The host of the demo: a program that uses Holdfast, in a process of its own so that it can be killed for real. */
import { type Clock, systemClock } from "#conversation/clock";
import { Runtime } from "#upstream/runtime";
import { openHoldfast } from "#open";
import { systemIdsAndTime } from "#store/prepare";
import { type FromHost, RemoteUpstream, type ToHost } from "./pipe.ts";

const [, , store = "", id = ""] = process.argv;
const send = (message: FromHost): void => void process.send?.(message);

let nowMs = Date.now();
// The time is the agent's world's, so that an hour can pass while nobody waits; the short waits are real.
const clock: Clock = { ...systemClock, nowMs: () => nowMs };
const idsAndTime = { now: () => new Date(nowMs).toISOString(), newId: () => systemIdsAndTime.newId() };

const holdfast = await openHoldfast({ store, idsAndTime });
const conversation = await holdfast.conversation(id);
const upstream = new RemoteUpstream(send);
const runtime = new Runtime(holdfast, { upstreams: [upstream], clock, writer: "demo-host" });

async function say(text: string): Promise<void> {
  try {
    const result = await runtime.send(id, text, { onEvent: (event) => send({ kind: "event", event }) });
    send({ kind: "turn", result });
  } catch (error) {
    send({ kind: "broken", message: error instanceof Error ? error.message : String(error) });
  }
}

process.on("message", (message: ToHost) => {
  nowMs = message.nowMs;
  upstream.receive(message);
  if (message.kind === "say") void say(message.text);
});
process.on("disconnect", () => process.exit(0));

const { headSeq } = await conversation.head();
send({ kind: "ready" });
for await (const entry of conversation.tail({ after: headSeq }))
  if (entry.type === "tool_intent") send({ kind: "intent" });
