import type { Peer } from "./guard/client-address.ts";

/** A request as the server reads it: of `node:http` without any web object, or of fetch. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Pick<Headers, "get">;
  readonly peer: Peer;
  /** Aborted when the client goes away before its answer has ended. */
  readonly signal: AbortSignal;
  /** Null: a request of this method has no body. */
  readonly body: ReadableStream<Uint8Array> | null;
  /** Passes the body on, chunk by chunk, in place of `body`; resolves at its end, rejects where it breaks off or `onChunk` throws. */
  eachChunk(onChunk: (chunk: Uint8Array) => void): Promise<void>;
}

/** An answer before it is written; the names of its headers are in lower case. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | ReadableStream<Uint8Array> | null;
}

/** A request of fetch, for hosts that mount the handler in a server of their own. */
export class FetchRequest implements HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly peer: Peer;
  readonly #request: Request;

  constructor(request: Request, peer: Peer = {}) {
    this.peer = peer;
    this.method = request.method;
    this.url = new URL(request.url);
    this.headers = request.headers;
    this.#request = request;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get body(): ReadableStream<Uint8Array> | null {
    return this.#request.body;
  }

  async eachChunk(onChunk: (chunk: Uint8Array) => void): Promise<void> {
    if (this.body !== null) for await (const chunk of this.body) onChunk(chunk);
  }
}

export function answerOf({ status, headers, body }: Response): HttpAnswer {
  return { status, headers: Object.fromEntries(headers), body };
}

export function responseOf({ status, headers, body }: HttpAnswer): Response {
  return new Response(body, { status, headers });
}
