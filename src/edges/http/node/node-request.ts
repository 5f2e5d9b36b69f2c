import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpRequest } from "#edges/http/exchange";
import type { Peer } from "#edges/http/guard/client-address";

// What a request asks for is in its path alone; a name of ours would be taken for a Host that it did not send.
const NO_HOST = "http://host.invalid";
/** Which fetch allows to nobody. */
const REFUSED_METHODS: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);

/** A request of Node. What few operations need, a signal or a web stream, is made when it is asked for. */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headings;
  readonly peer: Peer;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  #gone: AbortController | null = null;

  private constructor(incoming: IncomingMessage, outgoing: ServerResponse, url: URL) {
    this.method = incoming.method ?? "GET";
    this.url = url;
    this.headers = new Headings(incoming.rawHeaders);
    const { remoteAddress } = incoming.socket;
    this.peer = remoteAddress === undefined ? {} : { address: remoteAddress };
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  /** Null: its method, its address or its Host cannot be. */
  static of(incoming: IncomingMessage, outgoing: ServerResponse): NodeRequest | null {
    const { url = "", method = "GET" } = incoming;
    if (!url.startsWith("/") || REFUSED_METHODS.has(method)) return null;
    const parsed = URL.parse(`${NO_HOST}${url}`);
    if (parsed === null) return null;
    const request = new NodeRequest(incoming, outgoing, parsed);
    return request.headers.hosts > 1 ? null : request;
  }

  get hasBody(): boolean {
    return this.method !== "GET" && this.method !== "HEAD";
  }

  get signal(): AbortSignal {
    if (this.#gone !== null) return this.#gone.signal;
    const gone = new AbortController();
    this.#gone = gone;
    const outgoing = this.#outgoing;
    const close = (): void => {
      if (!outgoing.writableFinished) gone.abort();
    };
    if (outgoing.closed) close();
    else outgoing.once("close", close);
    return gone.signal;
  }

  /** Whoever stops reading may still have to be answered, so that ends nothing. */
  get body(): ReadableStream<Uint8Array> | null {
    if (!this.hasBody) return null;
    const chunks = this.#incoming.iterator({ destroyOnReturn: false });
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = (await chunks.next()) as IteratorResult<Uint8Array>;
          if (done === true) controller.close();
          else controller.enqueue(value);
        },
        async cancel() {
          await chunks.return?.();
        },
      },
      { highWaterMark: 0 },
    );
  }

  eachChunk(onChunk: (chunk: Uint8Array) => void): Promise<void> {
    const incoming = this.#incoming;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const hear = (chunk: Uint8Array): void => {
      try {
        onChunk(chunk);
      } catch (error) {
        incoming.off("data", hear).pause();
        reject(error);
      }
    };
    const close = (): void => {
      if (!incoming.readableEnded) reject(new Error("The connection was closed"));
    };
    incoming.on("error", close); // "close" follows, but may have been heard already
    if (incoming.closed) close();
    else incoming.once("end", resolve).once("close", close).on("data", hear);
    return promise;
  }
}

/** The headers of a request; of one that came twice, both values, as fetch has them. */
class Headings implements Pick<Headers, "get"> {
  readonly #values = new Map<string, string>();
  hosts: number = 0;

  constructor(raw: readonly string[]) {
    for (let at = 0; at + 1 < raw.length; at += 2) {
      const name = (raw[at] ?? "").toLowerCase();
      const value = raw[at + 1] ?? "";
      if (name === "host") this.hosts++;
      const before = this.#values.get(name);
      this.#values.set(
        name,
        before === undefined ? value : `${before}${name === "cookie" ? "; " : ", "}${value}`,
      );
    }
  }

  /** Asked for in lower case alone. */
  get(name: string): string | null {
    return this.#values.get(name) ?? null;
  }
}
