import type { Entry, Usage } from "../entry.ts";
import type { UpstreamEvent } from "./turn-record.ts";

export const REPLAY_MS_MAX = 50; // a model that thought at all takes longer
const UNREAD_TOKENS_MAX = 20; // no model is asked anything with less: the system prompt alone has more

/**
 * Some upstreams answer a new prompt with an old answer, or with the rest of one, drained at once. What a session that
 * was used before says in the first moment is held back until the moment is over or the turn has ended, so that a stale
 * reply is never shown or stored. Later than that no reply can be stale: see `isStaleReplay`.
 */
export class ReplayGuard {
  readonly #previous: ReadonlySet<string>;
  #held: UpstreamEvent[] = [];
  #text: string = "";
  #open: boolean;

  /** `previous`: the forms an old answer could come back in. `reused`: the session was prompted before. */
  constructor(previous: readonly string[], reused: boolean) {
    this.#previous = new Set(previous.map((text) => text.trim()));
    this.#open = !reused;
  }

  /** The events that may be passed on now. */
  take(event: UpstreamEvent, elapsedMs: number): readonly UpstreamEvent[] {
    if (this.#open || event.type === "session" || event.type === "usage") return [event];
    this.#held.push(event);
    if (event.type === "text") this.#text += event.text;
    // The agent is at work, or waits for an answer: neither can be the end of something old.
    const asks = event.type === "permission" || (event.type === "passed" && event.asks === true);
    return event.type === "tool" || asks || elapsedMs >= REPLAY_MS_MAX ? this.release() : [];
  }

  /** Everything that was said is held, and is the previous answer again. */
  get repeated(): boolean {
    return !this.#open && this.holding && this.#previous.has(this.#text.trim());
  }

  /** Text is held that was not passed on. */
  get holding(): boolean {
    return this.#held.some((event) => event.type === "text" && event.text.trim() !== "");
  }

  /** What is still held: the moment is over, or the reply turned out to be honest. */
  release(): readonly UpstreamEvent[] {
    const held = this.#held;
    this.#held = [];
    this.#open = true;
    return held;
  }
}

/** The answers in a branch, newest first, in the forms in which one could come back: its last message, or all in one. */
export function answersIn(newestFirst: readonly Entry[]): readonly string[] {
  const answers: string[][] = [[]];
  for (const entry of newestFirst) {
    if (entry.type !== "message") continue;
    const { role, content } = entry.message;
    if (role === "user") answers.push([]);
    const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
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
  readonly durationMs: number;
  readonly usage: Usage | null;
}

/**
 * An answer is stale only when it is certain that nothing was computed for it: it ended at once, what the agent counted
 * is less than any prompt has, and there is something old that it can be. None of these alone is evidence: agents say
 * the same thing twice, answer commands at once, count nothing, or count what came from a cache apart. An honest answer
 * that is thrown away is worse than a stale one that is shown.
 */
export function isStaleReplay(end: Finished): boolean {
  const atOnce = end.durationMs < REPLAY_MS_MAX;
  return end.reused && atOnce && (end.repeated || end.cutOff) && end.usage !== null && isUnread(end.usage);
}

/** Whoever counts what it said and hardly anything that it read has read no prompt. */
function isUnread(usage: Usage): boolean {
  const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0 } = usage;
  if (inputTokens === undefined || outputTokens === 0) return false;
  return inputTokens + cacheReadTokens + cacheWriteTokens <= UNREAD_TOKENS_MAX;
}
