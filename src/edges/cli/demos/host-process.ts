import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { LogError } from "#log/errors";
import type { SendResult } from "#upstream/finish-turn";
import type { HostEvent } from "#turn/host";
import type { SimWorld } from "#testing/index";
import { AgentEnd, type FromHost, type ToHost } from "./pipe.ts";

const HOST = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./demo-host.ts" : "./demo-host.js", import.meta.url),
);

export interface HostOptions {
  readonly store: string;
  readonly conversation: string;
  readonly world: SimWorld;
  readonly paceMs: number;
  /** Every id the agent has been talked to under. */
  readonly ids: Set<string>;
  onEvent(event: HostEvent): void;
}

/** One life of the host process, from its start to its end. */
export class HostProcess {
  readonly #options: HostOptions;
  readonly #child: ChildProcess;
  readonly #agent: AgentEnd;
  readonly #exited: Promise<unknown>;
  readonly #ready = Promise.withResolvers<void>();
  #turn: PromiseWithResolvers<SendResult> = Promise.withResolvers();
  /** Set for a host that is to die while a tool runs: resolves once it is dead. */
  #dying: PromiseWithResolvers<void> | null = null;

  private constructor(options: HostOptions) {
    this.#options = options;
    this.#child = fork(HOST, [options.store, options.conversation], {
      execArgv: ["--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#agent = new AgentEnd({
      ...options,
      afterStart: async () => this.#dying?.promise,
      // A host that is dead does not listen; that is the point.
      send: (message: ToHost) => void (this.#child.connected && this.#child.send(message, () => undefined)),
    });
    this.#child.on("message", (message: FromHost) => this.#receive(message));
    this.#exited = once(this.#child, "exit").then(() => this.#fail("The host of the demo ended by itself"));
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

  /** How the process ended, as the system tells it. */
  get signal(): string | null {
    return this.#child.signalCode;
  }

  #receive(message: FromHost): void {
    if (message.kind === "ready") this.#ready.resolve();
    else if (message.kind === "event") this.#options.onEvent(message.event);
    else if (message.kind === "turn") this.#turn.resolve(message.result);
    else if (message.kind === "broken") this.#fail(`The host of the demo failed: ${message.message}`);
    else if (message.kind === "ask")
      this.#agent.answer(message).catch((error: unknown) => this.#turn.reject(error as Error));
    else if (this.#dying !== null) this.#child.kill("SIGKILL");
  }

  #fail(why: string): void {
    const error = new LogError("store_failed", why);
    this.#ready.reject(error);
    this.#turn.reject(error);
  }

  say(text: string): Promise<SendResult> {
    this.#turn = Promise.withResolvers();
    this.#agent.send({ kind: "say", text });
    return this.#turn.promise;
  }

  /** Says something that uses a tool, and kills the process once the intent is on disk and the tool is at work. */
  async dieDuring(text: string): Promise<void> {
    this.#dying = Promise.withResolvers();
    const ended = await this.say(text).then(
      () => new LogError("store_failed", "The turn came to its end before the host could be killed"),
      (error: unknown) => error, // the turn of a dead host breaks off, as it should
    );
    if (this.signal === null && ended instanceof Error) throw ended;
    await this.#exited;
    // The agent was its child. It dies too, but what it had started goes on.
    this.#options.world.kill({ orphans: true });
    this.#dying.resolve();
  }

  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#exited;
  }
}
