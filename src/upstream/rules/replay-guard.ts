import type { Entry } from "#log/entry";
import { type Usage, textOfBlocks } from "#log/message";
import type { TurnEvent } from "#turn/rules/turn-event";

export const REPLAY_MS_MAX = 50; // a model that thought at all takes longer
export const REPEAT_MS_MAX = 1_000; // nobody is kept waiting longer for words that were said before
const UNREAD_TOKENS_MAX = 20; // no model is asked anything with less: the system prompt alone has more

/**
 * Some upstreams answer a new prompt with an old answer, or with the rest of one, drained at once. What a session that
 * was used before says in the first moment is held back, and up to a second as long as it could still be an old answer,
 * word for word; so a stale reply is not shown or stored, and an honest one is hardly delayed.
 */
export class ReplayGuard {
  readonly #previous: readonly string[];
  #pending: TurnEvent[] = [];
  #text: string = "";
  #open: boolean;

  /** `previous`: the forms an old answer could come back in. `reused`: the session was prompted before. */
  constructor(previous: readonly string[], reused: boolean) {
    this.#previous = previous.map((text) => text.trim()).filter((text) => text !== "");
    this.#open = !reused;
  }

  /** The events that may be passed on now. */
  add(event: TurnEvent, elapsedMs: number): readonly TurnEvent[] {
    if (this.#open || event.type === "session" || event.type === "usage") return [event];
    this.#pending.push(event);
    if (event.type === "text") this.#text += event.text;
    // The agent is at work, or waits for an answer: neither can be the end of something old.
    const asks =
      event.type === "permission" || (event.type === "forward_only" && event.expectsAnswer === true);
    if (event.type === "tool" || asks) return this.release();
    if (elapsedMs >= REPEAT_MS_MAX) return this.release();
    return elapsedMs >= REPLAY_MS_MAX ? this.afterMoment() : [];
  }

  /** What may be passed on once the moment is over: all but what could still be an old answer. */
  afterMoment(): readonly TurnEvent[] {
    const text = this.#text.trimStart();
    const repeats = this.#previous.some((old) => old.startsWith(text) || old === text.trimEnd());
    return text !== "" && repeats ? [] : this.release();
  }

  /** Everything that was said is held, and is an old answer again. */
  get repeated(): boolean {
    return !this.#open && this.#previous.includes(this.#text.trim());
  }

  /** Text is held that was not passed on. */
  get holding(): boolean {
    return this.#pending.some((event) => event.type === "text" && event.text.trim() !== "");
  }

  /** What is still held, for a reply that turned out to be honest. */
  release(): readonly TurnEvent[] {
    const pending = this.#pending;
    this.#pending = [];
    this.#open = true;
    return pending;
  }
}

/** The answers in a branch, newest first, in the forms in which one could come back: its last message, or all in one. */
export function answersIn(newestFirst: readonly Entry[]): readonly string[] {
  const answers: string[][] = [[]];
  for (const entry of newestFirst) {
    if (entry.type !== "message") continue;
    const { role, content } = entry.message;
    if (role === "user") answers.push([]);
    const text = textOfBlocks(content);
    if (role === "assistant" && text !== "") answers.at(-1)?.push(text);
  }
  return answers
    .flatMap((texts) => [texts[0] ?? "", texts.toReversed().join("")])
    .filter((text) => text !== "");
}

interface Finished {
  /** It said what was said before, word for word. */
  readonly repeated: boolean;
  /** The session was prompted before. */
  readonly reused: boolean;
  /** The session's last turn was cut off. */
  readonly cutOff: boolean;
  /** The session may hold words that we do not know: it was not proven when it was prompted. */
  readonly unproven: boolean;
  readonly durationMs: number;
  readonly usage: Usage | null;
}

/**
 * An answer is stale only when it is certain that nothing was computed for it: what the agent counted is less than any
 * prompt has, there is something old that it can be, and it ended at once, or it is that old answer word for word and
 * the count says that nothing came from a cache. None of these alone is evidence: agents say the same thing twice, answer
 * commands at once, count nothing, or count what came from a cache apart or not at all. An honest answer that is thrown
 * away is worse than a stale one that is shown.
 */
export function isStaleReplay(end: Finished): boolean {
  const { usage, repeated } = end;
  if (!end.reused || usage === null || !isUnread(usage)) return false;
  const atOnce = end.durationMs < REPLAY_MS_MAX;
  return atOnce ? repeated || end.cutOff || end.unproven : repeated && usage.cacheReadTokens !== undefined;
}

/** Whoever counts what it said and hardly anything that it read has read no prompt. */
function isUnread(usage: Usage): boolean {
  const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0 } = usage;
  if (inputTokens === undefined || outputTokens === 0) return false;
  return inputTokens + cacheReadTokens + cacheWriteTokens <= UNREAD_TOKENS_MAX;
}
