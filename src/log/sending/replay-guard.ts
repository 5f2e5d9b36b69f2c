import type { UpstreamEvent } from "./turn-record.ts";

export const REPLAY_MS_MAX = 50; // a model that thought at all takes longer
const REPLAY_INPUT_TOKENS_MAX = 20; // and reads more than this for any prompt with history
const PROMPT_CHARS_MIN = 50; // a prompt this long alone is more than that

/**
 * Some upstreams answer a new prompt with an old answer, or with the rest of one, drained late. While a reply could
 * still be the previous one, word for word, its text is held back; the first other word lets it through. What a
 * session that was used before says at once is held for a moment too. So a stale reply is never shown or stored, and
 * an honest one is delayed only as long as it repeats the last, or for that moment.
 */
export class ReplayGuard {
  readonly #previous: readonly string[];
  #held: UpstreamEvent[] = [];
  #text: string = "";
  #open: boolean;
  #repeating: boolean;

  /** `previous`: the forms an old answer could come back in. `reused`: the session was prompted before. */
  constructor(previous: readonly string[], reused: boolean) {
    this.#previous = previous.map((text) => text.trim()).filter((text) => text !== "");
    this.#repeating = reused && this.#previous.length > 0;
    this.#open = !reused;
  }

  /** The events that may be passed on now. */
  take(event: UpstreamEvent, elapsedMs: number): readonly UpstreamEvent[] {
    if (event.type === "text" && this.#repeating) this.#read(event.text);
    if (this.#open || event.type === "session" || event.type === "usage") return [event];
    this.#held.push(event);
    // The agent is at work, or waits for an answer: neither can be the end of something old.
    const asks = event.type === "permission" || (event.type === "passed" && event.asks === true);
    if (event.type === "tool" || asks) return this.release();
    if (elapsedMs < REPLAY_MS_MAX || (event.type === "text" && this.#repeating)) return [];
    return this.release();
  }

  #read(text: string): void {
    this.#text += text;
    const said = this.#text.trimStart();
    this.#repeating = this.#previous.some(
      (previous) => previous.startsWith(said) || previous === said.trimEnd(),
    );
  }

  /** What may be passed on once the moment is over: all but what could still be the previous answer. */
  afterMoment(): readonly UpstreamEvent[] {
    return this.#repeating && this.#text !== "" ? [] : this.release();
  }

  /** The whole reply was the previous one again. */
  get repeated(): boolean {
    return this.#repeating && this.#previous.includes(this.#text.trim());
  }

  /** Text is held that was not passed on. */
  get holding(): boolean {
    return this.#held.some((event) => event.type === "text" && event.text.trim() !== "");
  }

  /** What is still held, for a reply that turned out to be honest. */
  release(): readonly UpstreamEvent[] {
    if (this.#held.length === 0) return [];
    const held = this.#held;
    this.#held = [];
    this.#open = true;
    return held;
  }
}

interface Finished {
  readonly repeated: boolean;
  /** The session was prompted before. */
  readonly reused: boolean;
  /** The session's last turn was cut off. */
  readonly cutOff: boolean;
  readonly durationMs: number;
  readonly inputTokens: number | null;
  readonly promptChars: number;
}

/**
 * An answer is stale only when nothing was computed for it: an agent may well say the same thing twice. That shows in
 * an agent that answers at once, or that cannot have read the prompt.
 */
export function isStaleReplay(end: Finished): boolean {
  if (!end.reused) return false;
  const unread = end.inputTokens !== null && end.inputTokens <= REPLAY_INPUT_TOKENS_MAX;
  const atOnce = end.durationMs < REPLAY_MS_MAX;
  if (end.repeated) return atOnce || unread;
  return unread && (atOnce || (end.cutOff && end.promptChars > PROMPT_CHARS_MIN));
}
