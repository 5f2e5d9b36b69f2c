import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { HostEvent } from "#turn/host";
import type { SendResult } from "#sending/turn";
import { LogError } from "#log/errors";
import type { SimWorld } from "#testing/index";
import { AgentSide } from "./agent-side.ts";
import type { FromHost, ToHost } from "./wire.ts";

const HOST = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./host.ts" : "./host.js", import.meta.url),
);

export interface HostSetting {
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
  readonly #setting: HostSetting;
  readonly #child: ChildProcess;
  readonly #agent: AgentSide;
  readonly #exited: Promise<unknown>;
  readonly #ready = Promise.withResolvers<void>();
  #turn: PromiseWithResolvers<SendResult> = Promise.withResolvers();
  /** Set for a host that is to die while a tool runs: resolves once it is dead. */
  #dying: PromiseWithResolvers<void> | null = null;

  private constructor(setting: HostSetting) {
    this.#setting = setting;
    const { store, conversation, world, paceMs, ids } = setting;
    this.#child = fork(HOST, [store, conversation], {
      execArgv: ["--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#agent = new AgentSide({
      world,
      paceMs,
      ids,
      afterStart: async () => this.#dying?.promise,
      // A host that is dead does not listen; that is the point.
      send: (message: ToHost) => void (this.#child.connected && this.#child.send(message, () => undefined)),
    });
    this.#child.on("message", (message: FromHost) => this.#take(message));
    this.#exited = once(this.#child, "exit").then(() => this.#gone());
  }

  static async start(setting: HostSetting): Promise<HostProcess> {
    const host = new HostProcess(setting);
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

  #take(message: FromHost): void {
    switch (message.kind) {
      case "ready":
        this.#ready.resolve();
        return;
      case "ask":
        this.#agent
          .answer(message.ask, message.what)
          .catch((error: unknown) => this.#turn.reject(error as Error));
        return;
      case "told":
        this.#setting.onEvent(message.event);
        return;
      case "intent":
        if (this.#dying !== null) this.#child.kill("SIGKILL");
        return;
      case "turn":
        this.#turn.resolve(message.result);
        return;
      case "broken":
        this.#turn.reject(new LogError("store_failed", `The host of the demo failed: ${message.message}`));
        return;
    }
  }

  #gone(): void {
    const error = new LogError("store_failed", "The host of the demo ended by itself");
    this.#ready.reject(error);
    this.#turn.reject(error);
    // What its death breaks off is meant to break off.
    this.#ready.promise.catch(() => undefined);
    this.#turn.promise.catch(() => undefined);
  }

  async say(text: string): Promise<SendResult> {
    this.#turn = Promise.withResolvers();
    this.#agent.send({ kind: "say", text });
    return this.#turn.promise;
  }

  /** Says something that uses a tool, and kills the process once the intent is on disk and the tool is at work. */
  async dieDuring(text: string): Promise<void> {
    this.#dying = Promise.withResolvers();
    const ended = this.say(text).then(() => {
      throw new LogError("store_failed", "The turn came to its end before the host could be killed");
    });
    await Promise.race([ended.catch((error: unknown) => this.#isDead(error)), this.#exited]);
    await this.#exited;
    // The agent was its child. It dies too, but what it had started goes on.
    this.#setting.world.kill({ orphans: true });
    this.#dying.resolve();
  }

  /** The turn of a dead host breaks off, as it should; anything else is a failure. */
  #isDead(error: unknown): void {
    if (this.#child.signalCode === null) throw error;
  }

  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#exited;
  }
}
