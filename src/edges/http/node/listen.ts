import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { LogError } from "#log/errors";
import { checkNumbers } from "#log/with-defaults";
import type { HttpHandler } from "#edges/http/http-handler";
import { NodeAdapter } from "./node-adapter.ts";

export interface ListenOptions {
  /** 127.0.0.1 unless given. */
  readonly host?: string;
  /** Any that is free unless given. */
  readonly port?: number;
  /** Lets others than this machine reach it. */
  readonly beyondLoopback?: boolean;
  /** How long a request may take to arrive whole. */
  readonly requestMs?: number;
}

export interface Listening extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  readonly handler: HttpHandler;
  /** Accepts nothing more, waits for what is under way, and ends the rest. */
  close(graceMs?: number): Promise<void>;
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
const HEADER_BYTES_MAX = 16_384;
const HEADERS_MS = 10_000;
const REQUEST_MS = 600_000; // a file that is imported takes its time; other bodies have less, where they are read
const CONNECTIONS_MAX = 8_192;

/** Listens for requests to a handler, which is made once the port is known. */
export async function listen(
  makeHandler: (port: number) => HttpHandler,
  options: ListenOptions = {},
): Promise<Listening> {
  checkNumbers(options, { port: "port", requestMs: "limit" });
  const { host = "127.0.0.1", port = 0, beyondLoopback = false, requestMs = REQUEST_MS } = options;
  if (!LOOPBACK.has(host) && !beyondLoopback)
    throw new LogError(
      "invalid_request",
      `Refusing to listen on ${host}: it is not a loopback address, and traffic is not encrypted. To allow it, add --allow-host NAME (beyondLoopback) and put a TLS proxy in front of the server.`,
      { host },
    );
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: Math.min(HEADERS_MS, requestMs),
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(1_000, requestMs),
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.listen(port, host);
  await listening(server, host, port);
  const bound = (server.address() as AddressInfo).port;
  const handler = makeHandler(bound);
  const adapter = new NodeAdapter((request) => handler.answer(request));
  server.on("request", (request, response) => void adapter.serve(request, response));
  const close = (graceMs = 0): Promise<void> =>
    closeServer(server, adapter, graceMs).then(() => handler.flush());
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    host,
    port: bound,
    url: `http://${name}:${bound}`,
    handler,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

async function listening(server: Server, host: string, port: number): Promise<void> {
  try {
    await once(server, "listening");
  } catch (cause) {
    const why =
      (cause as NodeJS.ErrnoException).code === "EADDRINUSE"
        ? "the port is in use. Choose another port with --port, or --port 0 for any free one."
        : (cause as Error).message;
    throw new LogError(
      "invalid_request",
      `Can't listen on ${host}:${port}: ${why}`,
      { host, port },
      { cause },
    );
  }
}

async function closeServer(server: Server, adapter: NodeAdapter, graceMs: number): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  await adapter.settled(graceMs);
  server.closeAllConnections();
  await closed;
}
