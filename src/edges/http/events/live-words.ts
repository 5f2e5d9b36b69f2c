import type { HostEvent } from "#turn/host";

/** Words of a turn that runs in this process, as they are passed on: the log has them a moment later. */
export interface LiveWords {
  readonly conversation: string;
  readonly turn: string;
  readonly kind: "text" | "thinking";
  /** How many characters of the kind came before, since the agent was last asked: whoever missed some waits for the log. */
  readonly at: number;
  readonly text: string;
}

/** With these an agent is asked, or asked anew: what it said before stands in a message, or does not count. */
const ASKED: ReadonlySet<HostEvent["type"]> = new Set([
  "accepted",
  "session",
  "step",
  "lost",
  "backing_off",
  "switched",
]);

/** Counts the words of one turn. */
export class TurnWords {
  readonly #said = { text: 0, thinking: 0 };

  /** Null: it says nothing, or is of no turn yet. */
  heard(event: HostEvent, turn: string | null): LiveWords | null {
    if (ASKED.has(event.type)) [this.#said.text, this.#said.thinking] = [0, 0];
    if (event.type !== "update" || turn === null) return null;
    const { event: said, conversation } = event;
    if ((said.type !== "text" && said.type !== "thinking") || said.text === "") return null;
    const { type: kind, text } = said;
    const at = this.#said[kind];
    this.#said[kind] += text.length;
    return { conversation, turn, kind, at, text };
  }
}

type Listener = (words: LiveWords) => void;

/** Who listens to the words of which conversation. What nobody hears is gone: the log has all of it. */
export class LiveListeners {
  readonly #listeners = new Map<string, Set<Listener>>();

  tell(space: string, words: LiveWords): void {
    for (const listener of this.#listeners.get(`${space}/${words.conversation}`) ?? []) listener(words);
  }

  /** Until what is given back is called. */
  listen(space: string, conversation: string, listener: Listener): () => void {
    const name = `${space}/${conversation}`;
    const all = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, all.add(listener));
    return () => {
      all.delete(listener);
      if (all.size === 0) this.#listeners.delete(name);
    };
  }
}

const WAITING_CHARS_MAX = 65_536;

/** With more words behind those that wait: what follows on the last of them is one with it. */
function withWords(waiting: readonly LiveWords[], words: LiveWords): readonly LiveWords[] {
  const last = waiting.at(-1);
  const follows =
    last?.conversation === words.conversation &&
    last.turn === words.turn &&
    last.kind === words.kind &&
    last.at + last.text.length === words.at;
  if (!follows) return [...waiting, words];
  return [...waiting.slice(0, -1), { ...last, text: last.text + words.text }];
}

/** The words of several conversations, as fast as they are read; too many that wait are dropped. */
export async function* liveWords(
  listeners: LiveListeners,
  { space, conversations }: { readonly space: string; readonly conversations: readonly string[] },
  signal: AbortSignal,
): AsyncGenerator<LiveWords> {
  let waiting: readonly LiveWords[] = [];
  let wake = Promise.withResolvers<void>();
  const hear = (words: LiveWords): void => {
    waiting = withWords(waiting, words);
    if (waiting.reduce((sum, { text }) => sum + text.length, 0) > WAITING_CHARS_MAX) waiting = [];
    wake.resolve();
  };
  const stops = conversations.map((conversation) => listeners.listen(space, conversation, hear));
  const stop = (): void => wake.resolve();
  signal.addEventListener("abort", stop, { once: true });
  try {
    while (!signal.aborted) {
      const told = waiting;
      waiting = [];
      yield* told;
      if (waiting.length > 0) continue;
      await wake.promise;
      wake = Promise.withResolvers<void>();
    }
  } finally {
    for (const end of stops) end();
    signal.removeEventListener("abort", stop);
  }
}
