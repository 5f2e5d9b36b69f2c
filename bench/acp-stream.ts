/** A host that reads a stream of stamped updates: from an agent itself, through a bare relay, or through the bridge. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

const AGENT = join(import.meta.dirname, "acp-agent.ts");
const RELAY = join(import.meta.dirname, "acp-relay.ts");
const MAIN = join(import.meta.dirname, "..", "src", "edges", "cli", "main.ts");
const WAIT_MS = 120_000; // only a hang takes so long
const NEWLINE = 10;
const SENT = Buffer.from('"sent":"');

/** How an agent streams. */
export interface Stream {
  readonly updates: number;
  /** Updates written at once; 0 for as many as are read. */
  readonly burst: number;
  readonly everyMs: number;
}

export interface Streamed {
  /** From the agent's write to the host's read, in milliseconds, in the order they came. */
  readonly latencies: readonly number[];
  /** From the first write to the last read. */
  readonly elapsedMs: number;
  readonly bytes: number;
}

/** One process that speaks ACP; what it says is stamped as it comes and read when all has come. */
export class StreamHost implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #came: { readonly atNs: bigint; readonly chunk: Buffer }[] = [];
  #asked: number = 0;
  #waiting: { readonly end: Buffer; readonly done: () => void } | null = null;

  /** `through`: what stands between; a bridge has a store. `more`: options of the bridge's Node. */
  constructor(through: "nothing" | "relay" | { readonly store: string }, more: readonly string[] = []) {
    const agent = [AGENT];
    const relay = [RELAY, process.execPath, ...agent];
    const args =
      through === "nothing"
        ? agent
        : through === "relay"
          ? relay
          : [...more, MAIN, "acp", "--store", through.store, "--", process.execPath, ...agent];
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
  }

  #receive(chunk: Buffer): void {
    this.#came.push({ atNs: process.hrtime.bigint(), chunk });
    if (this.#waiting !== null && this.#ended(this.#waiting.end)) this.#waiting.done();
  }

  /** The answer comes last, and it is short: whether it came shows in the last bytes. */
  #ended(end: Buffer): boolean {
    const [before, last] = this.#came.slice(-2).map(({ chunk }) => chunk.subarray(-400));
    const tail = Buffer.concat(last === undefined ? [before ?? end] : [before ?? end, last]);
    const at = tail.lastIndexOf(end);
    return at !== -1 && tail.indexOf(NEWLINE, at) !== -1;
  }

  async #ask(method: string, params: object): Promise<Buffer> {
    const id = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#came = [];
    this.#waiting = { end: Buffer.from(`"id":${id},`), done: resolve };
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const late = AbortSignal.timeout(WAIT_MS);
    late.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    if (late.aborted) throw new Error(`No answer to ${method}`);
    this.#waiting = null;
    return Buffer.concat(this.#came.map(({ chunk }) => chunk));
  }

  async start(): Promise<void> {
    await this.#ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  }

  /** A session of its own each time: one that was used before has its first words held for a moment, on purpose. */
  async stream(how: Stream): Promise<Streamed> {
    const made = String(await this.#ask("session/new", { cwd: process.cwd(), mcpServers: [] }));
    const sessionId = /"sessionId":"([^"]+)"/.exec(made)?.[1] ?? "";
    const prompt = [{ type: "text", text: JSON.stringify(how) }];
    const bytes = await this.#ask("session/prompt", { sessionId, prompt });
    const moments = this.#moments(bytes);
    if (moments.length !== how.updates) throw new Error(`${moments.length} of ${how.updates} updates came`);
    const latencies = moments.map(({ sentNs, cameNs }) => Number(cameNs - sentNs) / 1e6);
    const [first, last] = [moments[0], moments.at(-1)];
    const elapsedMs = Number((last?.cameNs ?? 0n) - (first?.sentNs ?? 0n)) / 1e6;
    return { latencies, elapsedMs, bytes: bytes.length };
  }

  /** A line came when its last byte did. */
  #moments(bytes: Buffer): readonly { readonly sentNs: bigint; readonly cameNs: bigint }[] {
    const moments: { sentNs: bigint; cameNs: bigint }[] = [];
    const chunks = this.#came[Symbol.iterator]();
    let came = chunks.next();
    let end = came.value?.chunk.length ?? 0;
    for (let start = 0; start < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, start);
      while (end <= newline && came.done !== true) {
        came = chunks.next();
        end += came.value?.chunk.length ?? 0;
      }
      const at = bytes.indexOf(SENT, start);
      const digits = at === -1 || at > newline ? "" : bytes.toString("latin1", at + SENT.length, newline);
      if (digits !== "" && came.value !== undefined)
        moments.push({ sentNs: BigInt(digits.slice(0, digits.indexOf('"'))), cameNs: came.value.atNs });
      start = newline + 1;
    }
    return moments;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, "exit", { signal: AbortSignal.timeout(WAIT_MS) });
    this.#child.stdin.end();
    await gone.catch(() => this.#child.kill("SIGKILL"));
  }
}
