import { Refusal } from "#edges/http/guard/failures";

export interface StreamLimits {
  /** How many streams there may be, and how many of them with one token. */
  readonly streams: number;
  readonly streamsPerToken: number;
  /** How long a reader may not read before it is cut off. */
  readonly stallMs: number;
  /** How often something is sent where nothing happens, so that what lies in between keeps the connection. */
  readonly heartbeatMs: number;
}

const BUFFER_BYTES = 65_536;

/** One thing that happened, as it is sent. */
export function eventText(event: string, data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Who reads a stream. */
export interface StreamReader {
  readonly token: string;
  readonly isValid: () => Promise<boolean>;
  /** Aborted when the connection is closed. */
  readonly gone: AbortSignal;
}

interface OpenStream {
  readonly reader: StreamReader;
  /** Ends it with its last words. */
  stop(): void;
  /** Ends it at once, without a word. */
  readonly end: () => void;
}

const LOOK_MS = 1_000;

/** The streams of a server: each reads on only as its reader does, and whoever does not read is cut off. */
export class EventStreams {
  readonly #limits: StreamLimits;
  readonly #open = new Set<OpenStream>();
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Ends those that would go on for good; they can be gone on with elsewhere. */
  stop(): void {
    this.#isStopped = true;
    for (const stream of this.#open) stream.stop();
  }

  /** A response that sends these texts; the signal given to them ends when nobody listens any more. */
  respond(
    reader: StreamReader,
    texts: (signal: AbortSignal, stopped: AbortSignal) => AsyncIterable<string>,
  ): Response {
    this.#check(reader.token);
    const { gone } = reader;
    const ended = new AbortController();
    const stopping = new AbortController();
    const end = (): void => {
      ended.abort();
      this.#open.delete(stream);
      if (this.#open.size === 0) clearInterval(this.#timer);
    };
    const stream: OpenStream = { reader, stop: () => stopping.abort(), end };
    if (this.#open.size === 0) this.#timer = setInterval(() => void this.#endInvalid(), LOOK_MS).unref();
    this.#open.add(stream);
    if (gone.aborted) end();
    gone.addEventListener("abort", end, { once: true });
    const body = streamOf(texts(ended.signal, stopping.signal), this.#limits, end);
    return new Response(body, {
      headers: { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" },
    });
  }

  /** A token that was removed, or a cookie that expired, reads nothing more. */
  async #endInvalid(): Promise<void> {
    for (const { reader, end } of this.#open)
      // A store that cannot be asked now says nothing about the token.
      if (!(await reader.isValid().catch(() => true))) end();
  }

  #check(token: string): void {
    if (this.#isStopped)
      throw new Refusal("stopping", "The server is about to stop", { headers: { "retry-after": "1" } });
    const { streams, streamsPerToken } = this.#limits;
    const own = [...this.#open].filter(({ reader }) => reader.token === token).length;
    if (this.#open.size < streams && own < streamsPerToken) return;
    throw new Refusal(
      "too_many",
      "There are too many open streams; close one, or watch several conversations in one",
      {
        headers: { "retry-after": "1" },
      },
    );
  }
}

function streamOf(
  texts: AsyncIterable<string>,
  { stallMs, heartbeatMs }: StreamLimits,
  end: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = texts[Symbol.asyncIterator]();
  let fullSinceMs: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  const finish = (): void => {
    clearInterval(timer);
    end();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        timer = setInterval(
          () => {
            if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(encoder.encode(":\n\n"));
            fullSinceMs ??= performance.now();
            if (performance.now() - fullSinceMs < stallMs) return;
            finish();
            controller.error(new Error("Whoever listens does not read"));
          },
          Math.min(heartbeatMs, stallMs),
        );
        timer.unref();
      },
      async pull(controller) {
        fullSinceMs = null;
        try {
          const { done, value } = await iterator.next();
          if (done === true) {
            finish();
            controller.close();
          } else controller.enqueue(encoder.encode(value));
        } catch (error) {
          finish();
          controller.error(error);
        }
      },
      async cancel() {
        finish();
        await iterator.return?.();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
  );
}
