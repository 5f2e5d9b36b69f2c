import { type PromptEvent, type Upstream, UpstreamFailure, type UpstreamSession } from "#sending/upstream";
import { type SimWorld, simUpstream } from "#testing/index";
import { pause } from "#edges/cli/chat/pace";
import { AGENT, type Ask, type SessionView, type ToHost } from "./wire.ts";

type Untimed<T> = T extends unknown ? Omit<T, "nowMs" | "process"> : never;

interface ServeInput {
  readonly world: SimWorld;
  readonly paceMs: number;
  /** Every id the agent has been talked to under, as the agent itself knows it. */
  readonly ids: Set<string>;
  /** What the agent waits for behind its next sign of a tool that has begun. */
  afterStart(): Promise<void>;
  send(message: ToHost): void;
}

/** The agent's end of the pipe, for one life of the host. */
export class AgentSide {
  readonly #serving: ServeInput;
  readonly #upstream: Upstream;
  readonly #sessions: UpstreamSession[] = [];

  constructor(serving: ServeInput) {
    this.#serving = serving;
    this.#upstream = simUpstream(serving.world, { agent: AGENT });
  }

  send(message: Untimed<ToHost>): void {
    const { world } = this.#serving;
    const process = world.processOf(AGENT)?.token ?? null;
    this.#serving.send({ ...message, nowMs: world.nowMs(), process });
  }

  async answer(ask: number, what: Ask): Promise<void> {
    try {
      this.send({ kind: "answer", ask, session: await this.#do(ask, what) });
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      this.send({ kind: "failure", ask, ending: error.ending, failedProcess: error.process });
    }
  }

  async #do(ask: number, what: Ask): Promise<SessionView | null> {
    switch (what.verb) {
      case "open":
        return this.#view(await this.#upstream.open(what.settings));
      case "resume":
        return this.#view(await this.#upstream.resume(what.session, what.settings));
      case "fork":
        return this.#view(await this.#upstream.fork(what.session, what.settings));
      case "restart":
        await this.#upstream.restart(what.process);
        return null;
      case "prompt":
        await this.#prompt(ask, this.#at(what.handle), what.request);
        return null;
      case "cancel":
        await this.#at(what.handle).cancel();
        return null;
      case "close":
        await this.#at(what.handle).close();
        return null;
    }
  }

  #view(session: UpstreamSession): SessionView {
    const handle = this.#sessions.push(session) - 1;
    return { handle, id: session.id, shown: session.shown };
  }

  #at(handle: number): UpstreamSession {
    const session = this.#sessions[handle];
    if (session === undefined) throw new RangeError(`The host named a session it was not given: ${handle}`);
    return session;
  }

  async #prompt(
    ask: number,
    session: UpstreamSession,
    request: Parameters<UpstreamSession["prompt"]>[0],
  ): Promise<void> {
    const { world, ids, paceMs } = this.#serving;
    ids.add(session.id);
    for await (const event of session.prompt(request)) {
      if (event.type === "session") ids.add(event.id);
      await pause(world, paceOf(event) * paceMs);
      this.send({ kind: "event", ask, event });
      if (event.type === "tool" && event.state === "started")
        await world.timeline.freeze(this.#serving.afterStart());
    }
  }
}

/** In steps of a piece of text. */
function paceOf(event: PromptEvent): number {
  return event.type === "text" ? 1 : event.type === "tool" ? 12 : 0;
}
