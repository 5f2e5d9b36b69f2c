import type { PromptEvent, PromptRequest, Upstream, UpstreamSession } from "#upstream/upstream";
import { textOfBlocks } from "#log/message";
import { fieldsOf } from "#log/json/json-fields";
import { factsIn } from "./story-rules.ts";

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
    // What it was told in a turn that went well, at the end of which it summarized its history.
    let summarized: ReadonlySet<string> = new Set();
    const prompt: UpstreamSession["prompt"] = async function* (this: AgentWatch, request: PromptRequest) {
      this.#touch(now);
      this.#spoke.delete(now);
      this.#mustBeLinked(now);
      for (const fact of priorFacts(request))
        if (summarized.has(fact)) this.violations.push(`${now} summarized ${fact} and is told it again`);
      const told = [...priorFacts(request), ...factsIn(textOfBlocks(request.content, "\n"))];
      summarized = new Set();
      let isSummarized = false;
      for await (const event of session.prompt(request)) {
        if (event.type === "text" && event.text.trim() !== "") this.#spoke.add(now);
        isSummarized ||= isCompaction(event);
        if (isSummarized && isGoodEnd(event)) summarized = new Set(told);
        yield event;
        if (event.type !== "session") continue;
        now = event.id;
        told.splice(0); // the session before it was told
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

function priorFacts({ proven, prior }: PromptRequest): readonly string[] {
  if (proven) return [];
  return prior.messages.flatMap(({ text }) => factsIn(text));
}

function isCompaction(event: PromptEvent): boolean {
  return event.type === "other" && fieldsOf(event.data)["sessionUpdate"] === "compaction_update";
}

function isGoodEnd(event: PromptEvent): boolean {
  return event.type === "end" && event.end.stopReason === "end_turn" && event.end.error === null;
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
