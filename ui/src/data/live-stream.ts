import { effect, type Signal, signal } from "@preact/signals";
import { ApiError } from "#edges/http/client/index";
import type { LiveWords } from "#edges/http/client/views";
import type { Entry } from "#log/entry";
import { client, connection } from "./api-client.ts";

/** `cut`: more is there than was sent, and so long it is. */
type Listener = (entry: Entry, cut: number | null) => void;
/** Told of words before the log has them; some may be missing. */
type WordsListener = (words: LiveWords) => void;

interface Listening {
  readonly conversation: string;
  readonly tell: Listener;
  readonly hear: WordsListener | null;
  /** It was erased: nothing more is told of it, and the others are still told. */
  isGone: boolean;
  /** The last entry it knows. */
  seen: number;
}

const WATCHED_MAX = 64; // by the server
/** Longer texts are sent cut, by the stream and in pages; whoever wants them asks for them. */
export const TEXT_MAX = 30_000;
const SETTLE_MS = 30; // a page that opens begins to watch many at once
const AGAIN_MS = 5_000;

/**
 * One stream for all conversations that anything on the page watches: browsers allow a server six connections. It is opened anew when
 * what is watched changes, behind what each listener knows.
 */
export class LiveStream {
  /** The conversation that was erased last while it was watched. */
  readonly gone: Signal<string | null> = signal(null);
  readonly #listening = new Set<Listening>();
  #stop: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRefused = false;

  constructor() {
    // A browser gives a server six connections in all: tabs that nobody looks at leave theirs to the others, and catch up.
    document.addEventListener("visibilitychange", () => this.#restart());
    // What was refused is asked for again once the server knows this browser.
    effect(() => {
      if (connection.value === "live" && this.#isRefused) this.#restart();
    });
  }

  /** Tells every entry behind a seq, once and in order, until what is given back is called. */
  watch(conversation: string, after: number, tell: Listener, hear: WordsListener | null = null): () => void {
    const one: Listening = { conversation, tell, hear, isGone: false, seen: after };
    this.#listening.add(one);
    this.#restart();
    return () => {
      this.#listening.delete(one);
      this.#restart();
    };
  }

  #restart(ms: number = SETTLE_MS): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), ms);
  }

  async #run(): Promise<void> {
    this.#stop?.abort();
    const listening = [...this.#listening].filter(({ isGone }) => !isGone);
    if (listening.length === 0 || document.visibilityState === "hidden") return;
    const stop = new AbortController();
    this.#stop = stop;
    const watch = watched(listening);
    const words = listening.some(({ hear }) => hear !== null);
    const onRemark = (event: string, data: unknown): void => {
      if (event === "words") this.#hear(data as LiveWords);
    };
    this.#isRefused = false;
    try {
      const asked = { watch, textMax: TEXT_MAX, ...(words ? { words } : {}) };
      const told = client.watch(asked, { signal: stop.signal, onRemark });
      for await (const { conversation, entry, cut = null } of told) {
        if (stop.signal.aborted) return;
        this.#tell(conversation, entry, cut);
      }
    } catch (error) {
      if (stop.signal.aborted) return;
      this.#isRefused = connection.value === "signed_out";
      if (!this.#isRefused) this.#restart(this.#letGo(error) ? SETTLE_MS : AGAIN_MS);
    }
  }

  /** Of a conversation that is gone nothing is told any more; false: it is not that. */
  #letGo(error: unknown): boolean {
    if (!(error instanceof ApiError) || error.code !== "conversation_not_found") return false;
    const gone = [...this.#listening].filter(
      (one) => !one.isGone && one.conversation === error.details["conversation"],
    );
    for (const one of gone) {
      one.isGone = true;
      this.gone.value = one.conversation;
    }
    return gone.length > 0;
  }

  #hear(words: LiveWords): void {
    for (const { conversation, hear } of this.#listening)
      if (conversation === words.conversation) hear?.(words);
  }

  #tell(conversation: string, entry: Entry, cut: number | null): void {
    for (const one of this.#listening) {
      if (one.conversation !== conversation || entry.seq <= one.seen) continue;
      one.seen = entry.seq;
      one.tell(entry, cut);
    }
  }
}

/** `ID@SEQ` for each conversation, from the first entry that one of its listeners lacks. */
function watched(listening: readonly Listening[]): readonly string[] {
  const from = new Map<string, number>();
  for (const { conversation, seen } of listening)
    from.set(conversation, Math.min(seen, from.get(conversation) ?? seen));
  return [...from].slice(0, WATCHED_MAX).map(([conversation, seq]) => `${conversation}@${seq}`);
}

export const live: LiveStream = new LiveStream();
