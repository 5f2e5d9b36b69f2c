import type { StoredEntry } from "#log/entry";
import { isLogError, type LogError } from "#log/errors";
import { failureOf, Refusal } from "#edges/http/guard/failures";
import { bytesOf, eventText, type SentEvent } from "./event-bytes.ts";
import { LargeEntries, type Holder } from "./large-entries.ts";

export interface StreamLimits {
  /** How many streams there may be, and how many of them with one token. */
  readonly streams: number;
  readonly streamsPerToken: number;
  /**
   * How many bytes of large entries streams may hold that wait for their readers, in all and with one token. Beyond that the
   * stream whose reader has taken nothing for longest ends, and its client can resume.
   */
  readonly streamBytes: number;
  readonly streamBytesPerToken: number;
  /** How long a reader may not read before it is cut off. */
  readonly stallMs: number;
  /** How often something is sent where nothing happens, so that what lies in between keeps the connection. */
  readonly heartbeatMs: number;
}

const BUFFER_BYTES = 65_536;

/** Who reads a stream. */
export interface StreamReader {
  readonly token: string;
  readonly isValid: () => Promise<boolean>;
  /** Logs why the stream ends in the middle. */
  readonly brokeOff: (error: unknown) => void;
  /** Aborted when the connection is closed. */
  readonly gone: AbortSignal;
}

/** What the events of a stream are made with. */
export interface StreamScope {
  /** Ends when no one listens any more. */
  readonly signal: AbortSignal;
  /** The server is about to stop. */
  readonly stopped: AbortSignal;
  /** Counts a large entry until it is sent. */
  readonly hold: (stored: StoredEntry, bytes: Uint8Array) => Disposable;
}

interface OpenStream extends Holder {
  readonly reader: StreamReader;
  readMs: number;
  /** Ends it with its last words. */
  stop(): void;
  /** Ends it at once, without a word. */
  readonly end: () => void;
  cutOff: () => void;
}

const LOOK_MS = 1_000;
const NOTHING: Disposable = { [Symbol.dispose]: () => undefined };

/** The streams of a server: each reads on only as its reader does, and whoever does not read is cut off. */
export class EventStreams {
  readonly #limits: StreamLimits;
  readonly #open = new Set<OpenStream>();
  readonly #large: LargeEntries;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
    this.#large = new LargeEntries(limits);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Of large entries that wait for readers. */
  get largeBytes(): number {
    return this.#large.bytes;
  }

  /** Ends those that would go on for good; they can be gone on with elsewhere. */
  stop(): void {
    this.#isStopped = true;
    for (const stream of this.#open) stream.stop();
  }

  /** A response that sends these events. */
  respond(reader: StreamReader, events: (scope: StreamScope) => AsyncIterable<SentEvent>): Response {
    this.#check(reader.token);
    const { gone } = reader;
    const ended = new AbortController();
    const stopping = new AbortController();
    const end = (): void => {
      ended.abort("over");
      this.#large.removeAll(stream);
      this.#open.delete(stream);
      if (this.#open.size === 0) clearInterval(this.#timer);
    };
    const { token } = reader;
    const stop = (): void => stopping.abort();
    const stream: OpenStream = { reader, token, readMs: performance.now(), stop, end, cutOff: end };
    if (this.#open.size === 0) this.#timer = setInterval(() => void this.#endInvalid(), LOOK_MS).unref();
    this.#open.add(stream);
    if (gone.aborted) end();
    gone.addEventListener("abort", end, { once: true });
    const hold: StreamScope["hold"] = (stored, bytes) => this.#hold(stream, stored, bytes);
    const body = streamOf(
      events({ signal: ended.signal, stopped: stopping.signal, hold }),
      stream,
      this.#limits,
    );
    return new Response(body, {
      headers: { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" },
    });
  }

  #hold(stream: OpenStream, stored: StoredEntry, { byteLength }: Uint8Array): Disposable {
    if (byteLength <= BUFFER_BYTES || !this.#open.has(stream)) return NOTHING;
    this.#large.add(stream, stored, stored.payload.length + byteLength);
    return { [Symbol.dispose]: () => this.#large.remove(stream, stored) };
  }

  /** A token that was removed, or a cookie that expired, reads nothing more. */
  async #endInvalid(): Promise<void> {
    for (const { reader, end } of this.#open)
      // A store that cannot be asked now says nothing about the token.
      if (!(await reader.isValid().catch(() => true))) end();
  }

  #check(token: string): void {
    const headers = { "retry-after": "1" };
    if (this.#isStopped) throw new Refusal("stopping", "The server is stopping", { headers });
    const { streams, streamsPerToken } = this.#limits;
    const own = [...this.#open].filter(({ reader }) => reader.token === token).length;
    const next = "Close one, or watch several conversations in one stream.";
    if (own >= streamsPerToken)
      throw new Refusal("too_many", `This token has ${own} open streams, its limit. ${next}`, {
        headers,
        details: { streams: own, limit: streamsPerToken },
      });
    if (this.#open.size >= streams)
      throw new Refusal("too_many", `The server has ${streams} open streams, its limit. ${next}`, {
        headers,
        details: { limit: streams },
      });
  }
}

function streamOf(
  events: AsyncIterable<SentEvent>,
  stream: OpenStream,
  { stallMs, heartbeatMs }: StreamLimits,
): ReadableStream<Uint8Array> {
  const iterator = events[Symbol.asyncIterator]();
  /** Of the event that is being sent. */
  let rest: Iterator<Uint8Array> | null = null;
  let timer: NodeJS.Timeout | undefined;
  const finish = (): void => {
    clearInterval(timer);
    stream.end();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stream.cutOff = () => {
          finish();
          rest = null;
          controller.error(new Error("The client reads too slowly"));
          void iterator.return?.().catch(() => undefined);
        };
        const look = (): void => {
          if ((controller.desiredSize ?? 0) > 0) {
            if (rest === null) controller.enqueue(HEARTBEAT);
          } else if (performance.now() - stream.readMs >= stallMs) stream.cutOff();
        };
        timer = setInterval(look, Math.min(heartbeatMs, stallMs)).unref();
      },
      async pull(controller) {
        try {
          for (;;) {
            const piece: IteratorResult<Uint8Array> | undefined = rest?.next();
            stream.readMs = performance.now();
            if (piece?.done === false) return controller.enqueue(piece.value);
            rest = null;
            const { done, value } = await iterator.next();
            if (done === true) {
              finish();
              return controller.close();
            }
            rest = piecesOf(value);
          }
        } catch (error) {
          finish();
          if (!stream.reader.gone.aborted) stream.reader.brokeOff(error);
          if (!isLogError(error, "diverged")) return controller.error(error);
          // Its reader must not resume: what it was sent is no longer in the log.
          for (const bytes of bytesOf(divergedText(error))) controller.enqueue(bytes);
          controller.close();
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

const divergedText = (error: LogError): string =>
  eventText("diverged", JSON.stringify(failureOf(error).body));

const [HEARTBEAT = new Uint8Array()] = bytesOf(":\n\n");

/** What is large goes in copies of its pieces, so that what waits in a socket keeps none of the rest. */
function* piecesOf(event: SentEvent): Generator<Uint8Array> {
  for (const part of bytesOf(event)) {
    if (part.byteLength <= BUFFER_BYTES) yield part;
    else
      for (let from = 0; from < part.byteLength; from += BUFFER_BYTES)
        yield part.slice(from, from + BUFFER_BYTES);
  }
}
