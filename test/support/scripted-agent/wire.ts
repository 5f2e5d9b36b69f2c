/** The agent's end of the wire: raw lines, no SDK, so that it can also say what no SDK would let it say. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";

export type Fields = { readonly [name: string]: unknown };

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Thrown by a handler to answer with an error. */
export class Refusal extends Error {
  readonly error: RpcError;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.error = data === undefined ? { code, message } : { code, message, data };
  }
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export class Wire {
  readonly #folder: string;
  readonly #waiting = new Map<string, (answer: Fields) => void>();
  #asked: number = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** One write for all of them: a reader may get them in one piece. */
  write(...lines: readonly string[]): void {
    process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  }

  notify(method: string, params: unknown): void {
    this.write(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  answer(id: unknown, outcome: { readonly result: unknown } | { readonly error: RpcError }): void {
    this.write(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
  }

  /** Asks the host; resolves with the whole answer, result or error. */
  request(method: string, params: unknown): Promise<Fields> {
    const id = `ask-${process.pid}-${++this.#asked}`;
    const { promise, resolve } = Promise.withResolvers<Fields>();
    this.#waiting.set(id, resolve);
    this.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return promise;
  }

  /** Reads lines until the host hangs up. Every line is kept first: that is the proof of what was sent. */
  async read(onMessage: (message: Fields) => void): Promise<void> {
    let rest = Buffer.alloc(0);
    for await (const piece of process.stdin as AsyncIterable<Buffer>) {
      rest = Buffer.concat([rest, piece]);
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        const line = rest.subarray(0, end).toString("utf8");
        rest = rest.subarray(end + 1);
        this.#receive(line, onMessage);
      }
    }
  }

  #receive(line: string, onMessage: (message: Fields) => void): void {
    if (line.trim() === "") return;
    const record = `${JSON.stringify({ pid: process.pid, line })}\n`;
    appendFileSync(join(this.#folder, "received.ndjson"), record);
    let message: Fields;
    try {
      message = fieldsOf(JSON.parse(line));
    } catch {
      return this.answer(null, { error: { code: -32700, message: "Parse error" } });
    }
    if (message["method"] !== undefined) return onMessage(message);
    const id = textOf(message["id"]);
    this.#waiting.get(id)?.(message);
    this.#waiting.delete(id);
  }
}
