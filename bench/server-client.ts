import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Where a server listens, and how to ask it. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly token: string;
}

/** A request as bytes: the load generator shares the cores with the server, so it makes them once. */
export function requestBytes(
  { host, port, token }: Target,
  asked: { readonly path: string; readonly body?: string; readonly accept?: string },
): Buffer {
  const { path, body, accept = "application/json" } = asked;
  const lines = [
    `${body === undefined ? "GET" : "POST"} ${path} HTTP/1.1`,
    `host: ${host}:${port}`,
    `authorization: Bearer ${token}`,
    `accept: ${accept}`,
  ];
  if (body !== undefined)
    lines.push("content-type: application/json", `content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
}

const HEAD_END = "\r\n\r\n";
const CHUNKS_END = "\r\n0\r\n\r\n";
const EVENT_END = "\n\n";

/** A connection that is kept open, and that sends one request after the other. */
export class Line implements Disposable {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open({ host, port }: Target): Promise<Line> {
    const socket = connect({ host, port, noDelay: true });
    await once(socket, "connect");
    socket.on("error", () => undefined); // "close" follows
    return new Line(socket);
  }

  /** The status and the text of the answer, as it came. */
  ask(request: Buffer): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const chunks: Buffer[] = [];
    const close = (): void => reject(new Error("The server closed the connection"));
    const hear = (chunk: Buffer): void => {
      chunks.push(chunk);
      const text = answerOf(chunks);
      if (text === null) return;
      this.#socket.off("data", hear).off("close", close);
      if (text.startsWith("HTTP/1.1 2")) resolve(text);
      else reject(new Error(text.slice(0, 2_000)));
    };
    this.#socket.on("data", hear).on("close", close);
    if (this.#socket.closed) close();
    else this.#socket.write(request);
    return promise;
  }

  /** Asks for a stream of events; `heard` is called with how many came. */
  async listen(request: Buffer, heard: (events: number) => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let last = "";
    let isOpen = false;
    this.#socket.on("data", (chunk: Buffer) => {
      resolve();
      const text = last + chunk.toString("latin1");
      // Heartbeats and the ends of heads are no events.
      const events = text.split(`}${EVENT_END}`).length - 1;
      last = text.slice(-EVENT_END.length);
      if (isOpen && events > 0) heard(events);
      isOpen = true;
    });
    this.#socket.write(request);
    await promise;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** Null: there is more to come. */
function answerOf(chunks: readonly Buffer[]): string | null {
  const text = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  const end = text.indexOf(HEAD_END);
  if (end === -1) return null;
  const head = text.toString("latin1", 0, end);
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  const isWhole =
    length === undefined
      ? text.subarray(-CHUNKS_END.length).toString("latin1") === CHUNKS_END
      : text.length >= end + HEAD_END.length + Number(length);
  return isWhole ? text.toString("latin1") : null;
}
