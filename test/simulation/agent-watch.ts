import type { PromptRequest, Upstream, UpstreamSession } from "#upstream/upstream";

/** What the agents of a story were asked for and what they said, seen at the port. */
export class AgentWatch {
  readonly violations: string[] = [];
  readonly #isLinked: (session: string) => boolean;
  readonly #touches = new Map<string, number>();
  /** Sessions that said something to their last prompt. */
  readonly #spoke = new Set<string>();

  constructor(isLinked: (session: string) => boolean) {
    this.#isLinked = isLinked;
  }

  /** How often a session was asked for. */
  touches(session: string): number {
    return this.#touches.get(session) ?? 0;
  }

  spoke(session: string): boolean {
    return this.#spoke.has(session);
  }

  /** Counts who is asked for, and sees that nobody is prompted whose link could be lost. */
  around(upstream: Upstream): Upstream {
    const watched = aroundSessions(upstream, (session) => this.#aroundSession(session));
    return {
      ...watched,
      resume: (id, settings) => {
        this.#touch(id);
        return watched.resume(id, settings);
      },
    };
  }

  #aroundSession(session: UpstreamSession): UpstreamSession {
    let now = session.id;
    const prompt: UpstreamSession["prompt"] = async function* (this: AgentWatch, request: PromptRequest) {
      this.#touch(now);
      this.#spoke.delete(now);
      this.#mustBeLinked(now);
      for await (const event of session.prompt(request)) {
        if (event.type === "text" && event.text.trim() !== "") this.#spoke.add(now);
        yield event;
        if (event.type !== "session") continue;
        now = event.id;
        this.#mustBeLinked(now);
      }
    }.bind(this);
    return throughPort(session, prompt);
  }

  #touch(id: string): void {
    this.#touches.set(id, this.touches(id) + 1);
  }

  #mustBeLinked(id: string): void {
    if (!this.#isLinked(id)) this.violations.push(`${id} was prompted before its link was durable`);
  }
}

/** The same session, with its prompts going through something that stands before it. */
export function throughPort(session: UpstreamSession, prompt: UpstreamSession["prompt"]): UpstreamSession {
  return {
    id: session.id,
    transcript: session.transcript,
    get process() {
      return session.process;
    },
    prompt,
    cancel: () => session.cancel(),
    close: () => session.close(),
  };
}

/** The same agent, with something around every session of it. */
export function aroundSessions(
  upstream: Upstream,
  around: (session: UpstreamSession) => UpstreamSession,
): Upstream {
  const restore: Upstream["restore"] = async (messages, settings) => {
    const session = (await upstream.restore?.(messages, settings)) ?? null;
    return session === null ? null : around(session);
  };
  return {
    ...upstream,
    ...(upstream.restore === undefined ? {} : { restore }),
    open: async (settings) => around(await upstream.open(settings)),
    resume: async (id, settings) => around(await upstream.resume(id, settings)),
    fork: async (id, settings, keepTurns) => around(await upstream.fork(id, settings, keepTurns)),
  };
}
