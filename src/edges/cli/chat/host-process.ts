import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { SIMULATED } from "#edges/cli/serve/known-agents";
import { simulatedUpstream } from "#edges/cli/serve/simulated-agent";
import { LogError } from "#log/errors";
import type { SimWorld } from "#testing/index";
import type { HostEvent } from "#turn/host";
import type { SendResult } from "#upstream/finish-turn";
import { type PromptRequest, type Upstream, UpstreamFailure, type UpstreamSession } from "#upstream/upstream";
import type { AgentCall, FromHost, ToHost } from "./demo-host.ts";

const HOST = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./demo-host.ts" : "./demo-host.js", import.meta.url),
);

export interface HostOptions {
  readonly store: string;
  readonly conversation: string;
  readonly world: SimWorld;
  /** Between two pieces of an answer. */
  readonly paceMs: number;
  /** Every id that a session of the agent has had, as the agent itself knows it. */
  readonly ids: Set<string>;
  onEvent(event: HostEvent): void;
}

type Untimed<T> = T extends unknown ? Omit<T, "nowMs" | "process"> : never;

/** One host process, from its start to its end, and the agent that answers it. */
export class HostProcess {
  readonly #options: HostOptions;
  readonly #child: ChildProcess;
  readonly #upstream: Upstream;
  readonly #sessions: UpstreamSession[] = [];
  readonly #exited: Promise<unknown>;
  readonly #ready = Promise.withResolvers<void>();
  #turn: PromiseWithResolvers<SendResult> = Promise.withResolvers();
  /** Set for a host that is to be killed while a tool runs: resolves once it is dead. */
  #dying: PromiseWithResolvers<void> | null = null;

  private constructor(options: HostOptions) {
    this.#options = options;
    this.#upstream = simulatedUpstream(options.world);
    this.#child = fork(HOST, [options.store, options.conversation], {
      execArgv: ["--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child.on("message", (message: FromHost) => this.#receive(message));
    this.#exited = once(this.#child, "exit").then(() =>
      this.#fail("The host process of the demo exited unexpectedly"),
    );
    for (const { promise } of [this.#ready, this.#turn]) promise.catch(() => undefined);
  }

  static async start(options: HostOptions): Promise<HostProcess> {
    const host = new HostProcess(options);
    await host.#ready.promise;
    return host;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** How the process ended, as the system reports it. */
  get signal(): string | null {
    return this.#child.signalCode;
  }

  say(text: string): Promise<SendResult> {
    this.#turn = Promise.withResolvers();
    this.#send({ kind: "say", text });
    return this.#turn.promise;
  }

  /** Sends a prompt that uses a tool, and kills the process once the intent is on disk and the tool is at work. */
  async dieDuring(text: string): Promise<void> {
    this.#dying = Promise.withResolvers();
    const ended = await this.say(text).then(
      () => new LogError("store_failed", "The turn ended before the host could be killed"),
      (error: unknown) => error, // the turn of a dead host breaks off, as it should
    );
    if (this.signal === null && ended instanceof Error) throw ended;
    await this.#exited;
    // The agent was its child and ends too, but what it had started goes on.
    this.#options.world.kill({ orphans: true });
    this.#dying.resolve();
  }

  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#exited;
  }

  #receive(message: FromHost): void {
    if (message.kind === "ready") this.#ready.resolve();
    else if (message.kind === "event") this.#options.onEvent(message.event);
    else if (message.kind === "turn") this.#turn.resolve(message.result);
    else if (message.kind === "failed") this.#fail(`The host of the demo failed: ${message.message}`);
    else if (message.kind === "call")
      this.#answer(message).catch((error: unknown) => this.#turn.reject(error as Error));
    else if (this.#dying !== null) this.#child.kill("SIGKILL");
  }

  #fail(reason: string): void {
    const error = new LogError("store_failed", reason);
    this.#ready.reject(error);
    this.#turn.reject(error);
  }

  /** A host that is dead does not listen; that is the point. */
  #send(message: Untimed<ToHost>): void {
    const { world } = this.#options;
    const now = { nowMs: world.nowMs(), process: world.processOf(SIMULATED)?.token ?? "gone" };
    if (this.#child.connected) this.#child.send({ ...message, ...now }, () => undefined);
  }

  async #answer(message: AgentCall): Promise<void> {
    const { call } = message;
    try {
      const session = await this.#carryOut(message);
      if (session === null) return this.#send({ kind: "answer", call, session });
      const { id, transcript, model } = session;
      const view = { id, transcript, ...(model === undefined ? {} : { model }) };
      this.#send({ kind: "answer", call, session: { ...view, handle: this.#sessions.push(session) - 1 } });
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      this.#send({ kind: "failure", call, ending: error.ending, of: error.process });
    }
  }

  /** The arguments come as the runtime in the other process passed them. */
  async #carryOut({ call, verb, handle, args }: AgentCall): Promise<UpstreamSession | null> {
    const session = handle === null ? undefined : this.#sessions[handle];
    if (session === undefined) {
      const [first, settings, turns] = args as [never, never, never];
      return (
        (await this.#upstream[verb as "open" | "resume" | "fork" | "restart"](first, settings, turns)) ?? null
      );
    }
    if (verb === "prompt") await this.#prompt(call, session, args[0] as PromptRequest);
    else await session[verb as "cancel" | "close"]();
    return null;
  }

  async #prompt(call: number, session: UpstreamSession, request: PromptRequest): Promise<void> {
    const { world, ids, paceMs } = this.#options;
    ids.add(session.id);
    for await (const event of session.prompt(request)) {
      // Slow enough to be read; the agent's own time stands still meanwhile.
      if (paceMs > 0) await world.timeline.freeze(sleep(event.type === "text" ? paceMs : paceMs * 4));
      if (event.type === "session") ids.add(event.id);
      this.#send({ kind: "event", call, event });
      if (event.type === "tool" && event.state === "started")
        await world.timeline.freeze(this.#dying?.promise ?? Promise.resolve());
    }
  }
}
