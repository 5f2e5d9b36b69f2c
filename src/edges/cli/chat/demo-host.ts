/**
 * The host of the demo: a program that uses Holdfast, in a process of its own, so that a SIGKILL can end it. The simulated
 * agent and its world are in the process of the demo, and outlive it; every call of the agent goes there.
 */
import { type Clock, systemClock } from "#conversation/clock";
import { simulatedUpstream } from "#edges/cli/serve/simulated-agent";
import { openHoldfast } from "#open";
import { systemIdsAndTime } from "#store/prepare";
import { EventQueue } from "#testing/agent/simulated-turn";
import { SimWorld } from "#testing/index";
import type { HostEvent } from "#turn/host";
import type { Ending } from "#turn/rules/ending";
import type { SendResult } from "#upstream/finish-turn";
import { Runtime } from "#upstream/runtime";
import { type PromptEvent, type Upstream, UpstreamFailure, type UpstreamSession } from "#upstream/upstream";

/** A call of the agent, or, with a handle, of one of its sessions. */
export interface AgentCall {
  readonly call: number;
  readonly verb: "open" | "resume" | "fork" | "restart" | "prompt" | "cancel" | "close";
  readonly handle: number | null;
  readonly args: readonly unknown[];
}

/** A session as the other process has it; the handle stays the same when the id changes. */
type SessionView = Pick<UpstreamSession, "id" | "transcript" | "model"> & { readonly handle: number };

/** From the demo to the host. Every message has the time of the agent's world, and the agent's process. */
export type ToHost = { readonly nowMs: number; readonly process: string } & (
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "answer"; readonly call: number; readonly session: SessionView | null }
  | { readonly kind: "failure"; readonly call: number; readonly ending: Ending; readonly of: string | null }
  | { readonly kind: "event"; readonly call: number; readonly event: PromptEvent }
);

/** From the host to the demo. `intent`: the intent to use a tool is on disk. */
export type FromHost =
  | { readonly kind: "ready" | "intent" }
  | ({ readonly kind: "call" } & AgentCall)
  | { readonly kind: "event"; readonly event: HostEvent }
  | { readonly kind: "turn"; readonly result: SendResult }
  | { readonly kind: "failed"; readonly message: string };

interface OpenCall extends PromiseWithResolvers<SessionView | null> {
  readonly events: EventQueue;
}

/** The agent, each of whose calls goes to the process of the demo. */
class RemoteAgent {
  readonly #calls = new Map<number, OpenCall>();
  #sessionCount: number = 0;
  #process: string = "none";
  readonly upstream: Upstream = {
    ...simulatedUpstream(new SimWorld()),
    open: (...args) => this.#session("open", args),
    resume: (...args) => this.#session("resume", args),
    fork: (...args) => this.#session("fork", args),
    restart: async (...args) => void (await this.#call("restart", args).promise),
  };

  receive(message: ToHost): void {
    this.#process = message.process;
    if (message.kind === "say") return;
    const call = this.#calls.get(message.call);
    if (message.kind === "event") return call?.events.push(message.event);
    this.#calls.delete(message.call);
    if (message.kind === "answer") call?.resolve(message.session);
    else call?.reject(new UpstreamFailure(message.ending, message.of));
  }

  #call(verb: AgentCall["verb"], args: readonly unknown[], handle: number | null = null): OpenCall {
    const call = ++this.#sessionCount;
    const sessionCount = { ...Promise.withResolvers<SessionView | null>(), events: new EventQueue() };
    this.#calls.set(call, sessionCount);
    send({ kind: "call", call, verb, handle, args });
    return sessionCount;
  }

  async #session(verb: AgentCall["verb"], args: readonly unknown[]): Promise<UpstreamSession> {
    const view = await this.#call(verb, args).promise;
    if (view === null) throw new RangeError(`The agent returned no session for ${verb}`);
    const { handle, ...session } = view;
    const process = (): string => this.#process;
    return {
      ...session,
      get process() {
        return process();
      },
      prompt: (request) => {
        const { events, promise } = this.#call("prompt", [request], handle);
        promise.catch(() => undefined); // how it ended is an event
        return events.read();
      },
      cancel: async () => void (await this.#call("cancel", [], handle).promise),
      close: async () => void (await this.#call("close", [], handle).promise),
    };
  }
}

function send(message: FromHost): void {
  process.send?.(message);
}

const [, , store = "", id = ""] = process.argv;
let nowMs = Date.now();
// The time is that of the agent's world, so that an hour can pass while nobody waits; the short waits are real.
const clock: Clock = { ...systemClock, nowMs: () => nowMs };
const idsAndTime = { now: () => new Date(nowMs).toISOString(), newId: () => systemIdsAndTime.newId() };

const holdfast = await openHoldfast({ store, idsAndTime });
const conversation = await holdfast.conversation(id);
const agent = new RemoteAgent();
const runtime = new Runtime(holdfast, { upstreams: [agent.upstream], clock, writer: "demo-host" });

process.on("message", (message: ToHost) => {
  nowMs = message.nowMs;
  agent.receive(message);
  if (message.kind !== "say") return;
  runtime.send(id, message.text, { onEvent: (event) => send({ kind: "event", event }) }).then(
    (result) => send({ kind: "turn", result }),
    (error: unknown) =>
      send({ kind: "failed", message: error instanceof Error ? error.message : String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));

const { headSeq } = await conversation.head();
send({ kind: "ready" });
for await (const entry of conversation.tail({ after: headSeq }))
  if (entry.type === "tool_intent") send({ kind: "intent" });
