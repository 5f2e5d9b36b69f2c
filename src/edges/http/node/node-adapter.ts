import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpAnswer, HttpRequest } from "#edges/http/exchange";
import { NodeRequest } from "./node-request.ts";
import { RequestQueue } from "./request-queue.ts";

type Answering = (request: HttpRequest) => Promise<HttpAnswer>;

const DISCARD_MS = 1_000;
const STALL_MS = 60_000; // for which a reader is waited for

/** Answers requests of Node; a reader that does not keep up is waited for. */
export class NodeAdapter {
  readonly #answer: Answering;
  readonly #queue = new RequestQueue();
  readonly #serving = new Set<Promise<void>>();

  constructor(answer: Answering) {
    this.#answer = answer;
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
    const request = NodeRequest.of(incoming, outgoing);
    if (request === null) {
      outgoing.writeHead(400, { connection: "close" }).end();
      return;
    }
    await this.#queue.turn();
    const { status, headers, body } = await this.#answer(request);
    // What was not read of a body would be taken for the next request.
    const isWhole = incoming.complete || !request.hasBody;
    const own: Record<string, string | number> = isWhole
      ? { ...headers }
      : { ...headers, connection: "close" };
    if (typeof body === "string") own["content-length"] = Buffer.byteLength(body);
    outgoing.writeHead(status, own);
    // A stream may have nothing to say for long; whoever opened it is told at once that it is open.
    if (headers["content-type"]?.startsWith("text/event-stream") === true) outgoing.flushHeaders();
    if (body instanceof ReadableStream) await pipe(body, outgoing, request.signal);
    else outgoing.end(body ?? undefined);
    if (!isWhole) discard(incoming);
  }
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
  if (gone.aborted) stop();
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
