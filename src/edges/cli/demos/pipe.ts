import { type PromptEvent, type Upstream, UpstreamFailure, type UpstreamSession } from "#sending/upstream";
import type { EndingTable } from "#sending/rules/ending-table";
import { vendorOf } from "#vendors/known-vendors";
import { AGENT, type Ask, type FromHost, type SessionView, type ToHost } from "./wire.ts";

interface Waiting {
  resolve(session: SessionView | null): void;
  reject(error: UpstreamFailure): void;
  event(event: PromptEvent): void;
}

/** The agent as the host sees it: everything it is asked goes through a pipe to another process. */
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

  /** Takes what came through the pipe. */
  take(message: ToHost): void {
    this.#process = message.process ?? "gone";
    if (message.kind === "say") return;
    const waiting = this.#waiting.get(message.ask);
    if (message.kind === "event") {
      waiting?.event(message.event);
      return;
    }
    this.#waiting.delete(message.ask);
    if (message.kind === "answer") waiting?.resolve(message.session);
    else waiting?.reject(new UpstreamFailure(message.ending, message.failedProcess));
  }

  #ask(what: Ask, event: (event: PromptEvent) => void = () => undefined): Promise<SessionView | null> {
    const { promise, resolve, reject } = Promise.withResolvers<SessionView | null>();
    const ask = ++this.#asks;
    this.#waiting.set(ask, { resolve, reject, event });
    this.#send({ kind: "ask", ask, what });
    return promise;
  }

  async #session(what: Ask): Promise<UpstreamSession> {
    const view = await this.#ask(what);
    if (view === null) throw new RangeError(`The agent gave no session for ${what.verb}`);
    const { handle, id, shown } = view;
    const process = (): string => this.#process;
    return {
      id,
      shown,
      get process() {
        return process();
      },
      prompt: (request) => this.#prompt({ verb: "prompt", handle, request }),
      cancel: async () => void (await this.#ask({ verb: "cancel", handle })),
      close: async () => void (await this.#ask({ verb: "close", handle })),
    };
  }

  async *#prompt(what: Ask): AsyncGenerator<PromptEvent> {
    const queue: PromptEvent[] = [];
    let wake: () => void = () => undefined;
    const over = this.#ask(what, (event) => {
      queue.push(event);
      wake();
    });
    over.catch(() => undefined);
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      if (queue.length === 0) await promise;
      for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
        yield event;
        if (event.type === "end") return;
      }
    }
  }

  open(settings: Parameters<Upstream["open"]>[0]): Promise<UpstreamSession> {
    return this.#session({ verb: "open", settings });
  }

  resume(session: string, settings: Parameters<Upstream["open"]>[0]): Promise<UpstreamSession> {
    return this.#session({ verb: "resume", session, settings });
  }

  fork(session: string, settings: Parameters<Upstream["open"]>[0]): Promise<UpstreamSession> {
    return this.#session({ verb: "fork", session, settings });
  }

  async restart(process: string | null): Promise<void> {
    await this.#ask({ verb: "restart", process });
  }
}
