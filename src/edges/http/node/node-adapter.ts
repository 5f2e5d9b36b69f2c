import type { IncomingMessage, ServerResponse } from "node:http";
import type { Peer } from "#edges/http/guard/client-address";

type FetchHandler = (request: Request, peer: Peer) => Promise<Response>;

// What a request asks for is in its path alone; a name of ours would be taken for a Host that it did not send.
const NO_HOST = "http://host.invalid";
const DISCARD_MS = 1_000;
const STALL_MS = 60_000; // for which a reader is waited for

/** Requests of Node as those of fetch, and its responses back; a reader that does not keep up is waited for. */
export class NodeAdapter {
  readonly #handle: FetchHandler;
  readonly #serving = new Set<Promise<void>>();

  constructor(handle: FetchHandler) {
    this.#handle = handle;
  }

  async serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const serving = this.#serve(incoming, outgoing).catch(() => void outgoing.destroy());
    this.#serving.add(serving);
    await serving;
    this.#serving.delete(serving);
  }

  /** Resolves when nothing is under way, or the time is over. */
  async settled(graceMs: number): Promise<void> {
    if (graceMs <= 0 || this.#serving.size === 0) return;
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, graceMs);
    await Promise.race([Promise.allSettled(this.#serving), over.promise]);
    clearTimeout(timer);
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const request = requestOf(incoming, gone.signal);
    if (request === null) {
      outgoing.writeHead(400, { connection: "close" }).end();
      return;
    }
    const { remoteAddress } = incoming.socket;
    const response = await this.#handle(
      request,
      remoteAddress === undefined ? {} : { address: remoteAddress },
    );
    // What was not read of a body would be taken for the next request.
    const isWhole = incoming.complete || request.body === null;
    outgoing.writeHead(response.status, [
      ...[...response.headers].flat(),
      ...(isWhole ? [] : ["connection", "close"]),
    ]);
    // A stream may have nothing to say for long; whoever opened it is told at once that it is open.
    if (response.headers.get("content-type")?.startsWith("text/event-stream") === true)
      outgoing.flushHeaders();
    if (response.body === null) outgoing.end();
    else await pipe(response.body, outgoing, gone.signal);
    if (!isWhole) discard(incoming);
  }
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | null {
  const { url = "", method = "GET", rawHeaders } = incoming;
  if (!url.startsWith("/")) return null;
  const headers = new Headers();
  let hosts = 0;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = [rawHeaders[at], rawHeaders[at + 1]];
    if (name.toLowerCase() === "host") hosts++;
    headers.append(name, value);
  }
  if (hosts > 1) return null;
  const hasBody = method !== "GET" && method !== "HEAD";
  try {
    return new Request(`${NO_HOST}${url}`, {
      method,
      headers,
      signal,
      ...(hasBody ? { body: bodyOf(incoming), duplex: "half" } : {}),
    });
  } catch {
    return null; // a method that nobody may use, an address that is none
  }
}

/** Whoever stops reading may still have to be answered, so that ends nothing. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming.iterator({ destroyOnReturn: false });
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

/** A sender that is told so while it sends must be able to hear it; it is not listened to for long. */
function discard(incoming: IncomingMessage): void {
  incoming.resume();
  const timer = setTimeout(() => incoming.destroy(), DISCARD_MS);
  incoming.once("close", () => clearTimeout(timer));
}

async function pipe(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  gone.addEventListener("abort", stop, { once: true });
  // A stream that fails while its reader is waited for ends the connection all the same.
  reader.closed.catch(() => outgoing.destroy());
  for (;;) {
    const { done, value } = await reader.read();
    if (done || gone.aborted) break;
    if (!outgoing.write(value)) await drained(outgoing, gone);
  }
  outgoing.end();
}

function drained(outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => outgoing.destroy(), STALL_MS);
  const done = (): void => {
    clearTimeout(timer);
    outgoing.off("drain", done);
    gone.removeEventListener("abort", done);
    resolve();
  };
  outgoing.once("drain", done);
  gone.addEventListener("abort", done, { once: true });
  return promise;
}
