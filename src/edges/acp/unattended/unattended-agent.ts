import { type Clock, systemClock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { withDefaults } from "#log/with-defaults";
import type { SendResult } from "#upstream/finish-turn";
import type { RuntimeOptions, SendOptions, TurnOptions } from "#upstream/options";
import { Runtime } from "#upstream/runtime";
import type { PromptContent } from "#turn/accept";
import type { HostEvent } from "#turn/host";
import { AcpUpstream } from "#edges/acp/agent/acp-upstream";
import type { AgentSpec } from "#edges/acp/agent/process/running-agent";
import { LogHost, type LogHostOptions } from "./log-host.ts";

export interface UnattendedOptions
  extends LogHostOptions, Partial<Omit<RuntimeOptions, "upstreams" | "clock">> {
  readonly clock?: Clock;
}

/** An ACP agent behind the runtime, with no editor: for servers. It is started when it is needed, and again when it died. */
export class UnattendedAgent extends Runtime {
  readonly #upstream: AcpUpstream;
  readonly #host: LogHost;

  constructor(holdfast: Holdfast, spec: AgentSpec, options: UnattendedOptions) {
    const { cwd, version, clock = systemClock, ...more } = options;
    const host = new LogHost(holdfast, { cwd, version });
    const upstream = new AcpUpstream(spec, host, clock);
    // A person may take a day to answer, and the agent is silent meanwhile.
    const runtime = withDefaults({ onSilence: "tell" as const, pool: { mode: "hybrid" as const } }, more);
    super(holdfast, { ...runtime, clock, upstreams: [upstream] });
    this.#upstream = upstream;
    this.#host = host;
  }

  override send(
    to: Conversation | string,
    content: PromptContent,
    options: SendOptions = {},
  ): Promise<SendResult> {
    return this.#carried(to, options, (heard) => super.send(to, content, heard));
  }

  override retry(to: Conversation | string, options: TurnOptions = {}): Promise<SendResult> {
    return this.#carried(to, options, (heard) => super.retry(to, heard));
  }

  override continue(to: Conversation | string, options: TurnOptions = {}): Promise<SendResult> {
    return this.#carried(to, options, (heard) => super.continue(to, heard));
  }

  override cancel(of: Conversation | string): boolean {
    const isCancelled = super.cancel(of);
    if (isCancelled) this.#host.turnOver(idOf(of));
    return isCancelled;
  }

  override async close(): Promise<void> {
    this.#host.close();
    await super.close();
    await this.#upstream.stop();
  }

  async #carried<O extends TurnOptions>(
    to: Conversation | string,
    options: O,
    carry: (heard: O) => Promise<SendResult>,
  ): Promise<SendResult> {
    const id = idOf(to);
    let isBegun = false; // another turn may run, which this call has nothing to do with
    const onEvent = (event: HostEvent): void => {
      isBegun ||= event.type === "accepted";
      this.#host.hear(event);
      options.onEvent?.(event);
    };
    try {
      const result = await carry({ ...options, onEvent });
      if (result.upstream !== null && result.outcome !== "interrupted")
        void this.#upstream.turnEnded(result.upstream);
      return result;
    } finally {
      if (isBegun) {
        this.#host.turnOver(id);
        this.#upstream.sessionOf(id)?.turnShown();
      }
    }
  }
}

function idOf(conversation: Conversation | string): string {
  return typeof conversation === "string" ? conversation : conversation.id;
}
