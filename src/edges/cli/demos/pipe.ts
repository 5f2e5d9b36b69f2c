/** Between the demo, which plays the world and the agent, and its host, a process that can be killed. */
import type { HostEvent } from "#turn/host";
import type { SendResult } from "#upstream/finish-turn";
import { type PromptEvent, type Upstream, UpstreamFailure, type UpstreamSession } from "#upstream/upstream";
import type { Ending } from "#turn/rules/ending";
import type { EndingTable } from "#turn/rules/classify";
import { vendorOf } from "#vendors/known-vendors";
import type { SimWorld } from "#testing/index";
import { EventQueue } from "#testing/agent/event-queue";
import { AGENT, pacedUpstream } from "#edges/cli/chat/sim-session";

/** A call of the upstream, or, with a handle, of one of its sessions. */
interface Ask {
  readonly ask: number;
  readonly verb: "open" | "resume" | "fork" | "restart" | "prompt" | "cancel" | "close";
  readonly handle: number | null;
  readonly args: readonly unknown[];
}

/** A session as it looks from the other side; the handle stays the same when the id changes. */
type SessionView = Pick<UpstreamSession, "id" | "shown"> & { readonly handle: number };

/** From the demo to the host. Everything says what time it is in the agent's world, and which process is its. */
export type ToHost = { readonly nowMs: number; readonly process: string | null } & (
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "answer"; readonly ask: number; readonly session: SessionView | null }
  | { readonly kind: "failure"; readonly ask: number; readonly ending: Ending; readonly of: string | null }
  | { readonly kind: "event"; readonly ask: number; readonly event: PromptEvent }
);

/** From the host to the demo. */
export type FromHost =
  | { readonly kind: "ready" }
  | ({ readonly kind: "ask" } & Ask)
  | { readonly kind: "event"; readonly event: HostEvent }
  /** The intent to use a tool is on disk. */
  | { readonly kind: "intent" }
  | { readonly kind: "turn"; readonly result: SendResult }
  | { readonly kind: "broken"; readonly message: string };

interface Waiting extends PromiseWithResolvers<SessionView | null> {
  readonly events: EventQueue;
}

/** The host's end: an agent whose every call goes through the pipe. */
export class RemoteUpstream implements Upstream {
  readonly agent: string = AGENT;
  readonly account: null = null;
  readonly capabilities: Upstream["capabilities"] = { resume: true, fork: "head", trustedResume: false };
  readonly endings: EndingTable = vendorOf(AGENT).endings;
  readonly #send: (message: FromHost) => void;
  readonly #waiting = new Map<number, Waiting>();
  #asks: number = 0;
  #process: string = "none";

  constructor(send: (message: FromHost) => void) {
    this.#send = send;
  }

  /** What came through the pipe. */
  receive(message: ToHost): void {
    this.#process = message.process ?? "gone";
    if (message.kind === "say") return;
    const waiting = this.#waiting.get(message.ask);
    if (message.kind === "event") return waiting?.events.push(message.event);
    this.#waiting.delete(message.ask);
    if (message.kind === "answer") waiting?.resolve(message.session);
    else waiting?.reject(new UpstreamFailure(message.ending, message.of));
  }

  #ask(verb: Ask["verb"], handle: number | null, ...args: readonly unknown[]): Waiting {
    const ask = ++this.#asks;
    const waiting = { ...Promise.withResolvers<SessionView | null>(), events: new EventQueue() };
    this.#waiting.set(ask, waiting);
    this.#send({ kind: "ask", ask, verb, handle, args });
    return waiting;
  }

  async #session(verb: "open" | "resume" | "fork", ...args: readonly unknown[]): Promise<UpstreamSession> {
    const view = await this.#ask(verb, null, ...args).promise;
    if (view === null) throw new RangeError(`The agent gave no session for ${verb}`);
    const { handle, id, shown } = view;
    const process = (): string => this.#process;
    return {
      id,
      shown,
      get process() {
        return process();
      },
      prompt: (request) => {
        const { events, promise } = this.#ask("prompt", handle, request);
        promise.catch(() => undefined); // how it ended is an event
        return events.read();
      },
      cancel: async () => void (await this.#ask("cancel", handle).promise),
      close: async () => void (await this.#ask("close", handle).promise),
    };
  }

  open: Upstream["open"] = (settings) => this.#session("open", settings);
  resume: Upstream["resume"] = (id, settings) => this.#session("resume", id, settings);
  fork: Upstream["fork"] = (id, settings, turns) => this.#session("fork", id, settings, turns);
  restart: Upstream["restart"] = async (process) => void (await this.#ask("restart", null, process).promise);
}

type Untimed<T> = T extends unknown ? Omit<T, "nowMs" | "process"> : never;

interface AgentEndOptions {
  readonly world: SimWorld;
  readonly paceMs: number;
  /** Every id the agent has been talked to under, as the agent itself knows it. */
  readonly ids: Set<string>;
  /** What the agent waits for behind its next sign of a tool that has begun. */
  afterStart(): Promise<void>;
  send(message: ToHost): void;
}

/** The agent's end, for one life of the host. */
export class AgentEnd {
  readonly #options: AgentEndOptions;
  readonly #upstream: Upstream;
  readonly #sessions: UpstreamSession[] = [];

  constructor(options: AgentEndOptions) {
    this.#options = options;
    this.#upstream = pacedUpstream(options.world, options.paceMs);
  }

  send(message: Untimed<ToHost>): void {
    const { world } = this.#options;
    this.#options.send({ ...message, nowMs: world.nowMs(), process: world.processOf(AGENT)?.token ?? null });
  }

  async answer(asked: Ask): Promise<void> {
    const { ask } = asked;
    try {
      const session = await this.#call(asked);
      const handle = session === null ? 0 : this.#sessions.push(session) - 1;
      const view = session === null ? null : { handle, id: session.id, shown: session.shown };
      this.send({ kind: "answer", ask, session: view });
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      this.send({ kind: "failure", ask, ending: error.ending, of: error.process });
    }
  }

  /** Arguments come from the other end as they were given there. */
  async #call({ ask, verb, handle, args }: Ask): Promise<UpstreamSession | null> {
    const session = handle === null ? undefined : this.#sessions[handle];
    if (session === undefined) {
      const [first, settings] = args as [never, never];
      const call = verb as "open" | "resume" | "fork" | "restart";
      return (await this.#upstream[call](first, settings)) ?? null;
    }
    if (verb === "prompt")
      await this.#prompt(ask, session, args[0] as Parameters<UpstreamSession["prompt"]>[0]);
    else await session[verb as "cancel" | "close"]();
    return null;
  }

  async #prompt(
    ask: number,
    session: UpstreamSession,
    request: Parameters<UpstreamSession["prompt"]>[0],
  ): Promise<void> {
    const { world, ids } = this.#options;
    ids.add(session.id);
    for await (const event of session.prompt(request)) {
      if (event.type === "session") ids.add(event.id);
      this.send({ kind: "event", ask, event });
      if (event.type === "tool" && event.state === "started")
        await world.timeline.freeze(this.#options.afterStart());
    }
  }
}
