import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { endGroup, identityOf, type ProcessIdentity, TOOL_TOKEN_NAME } from "#turn/effects/process-group";
import type { StdioServer } from "./mcp-server.ts";
import { readJson } from "#log/json/read-json";

const LINE_BYTES_MAX = 16_777_216;
const UNASKED_BYTES_MAX = 268_435_456; // since it was last asked something
const ERROR_CHARS = 2_000;
const LEAVE_MS = 500; // a server that is told by the end of its input that it may go
const LAST_WORDS_MS = 1_000; // what it said last may still be in the pipes, which its own children may hold open
const LINE_FEED = 10;

// If this process dies, the servers' process group ends with the pipe to it.
const WATCH = 'read -r _; kill -TERM "-$1" 2>/dev/null; sleep 2; kill -KILL "-$1" 2>/dev/null';

/** A server in a process group of its own, spoken to by lines. What it writes is bounded, whatever it does. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #server: StdioServer;
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcessWithoutNullStreams | null = null;
  #watcher: ChildProcess | null = null;
  #identity: ProcessIdentity | null = null;
  #ended: Promise<void> | null = null;
  #exit: string = "";
  #errorText: string = "";
  #lines: Uint8Array[] = [];
  #lineBytes: number = 0;
  #unsolicitedBytes: number = 0;
  #delivery: Promise<void> = Promise.resolve();
  #isClosed: boolean = false;
  #closing: Promise<void> | null = null;

  constructor(server: StdioServer, env: Readonly<Record<string, string>>) {
    this.#server = server;
    this.#env = env;
  }

  /** Null until it runs. */
  get identity(): ProcessIdentity | null {
    return this.#identity;
  }

  /** How it ended and what it said of that, for people; empty while it runs. */
  get endText(): string {
    const text = this.#errorText.trim();
    return this.#exit === "" || text === "" ? this.#exit : `${this.#exit}. Its error output: ${text}`;
  }

  async start(): Promise<void> {
    const { command, args = [], env = {}, cwd } = this.#server;
    const token = randomUUID();
    const child = spawn(command, args, {
      env: { ...this.#env, ...env, [TOOL_TOKEN_NAME]: token },
      stdio: "pipe",
      detached: true,
      ...(cwd === undefined ? {} : { cwd }),
    });
    child.on("error", () => undefined);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => undefined);
    // Listen from the start: Node discards the output of an ended process without listeners.
    child.stdout.on("data", (bytes: Uint8Array) => this.#read(bytes));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errorText = (this.#errorText + text).slice(-ERROR_CHARS);
    });
    const drained = new Promise<void>((resolve) => void child.once("close", () => resolve()));
    await once(child, "spawn");
    this.#child = child;
    const pid = child.pid ?? 0;
    this.#watcher = watch(pid);
    this.#identity = await identityOf(pid, token);
    this.#ended = new Promise((resolve) => {
      const leave = (code: number | null, signal: string | null): void => {
        if (this.#exit === "")
          this.#exit = code === null ? `ended by ${signal}` : `ended with exit code ${code}`;
        void Promise.race([drained, pause(LAST_WORDS_MS)]).then(() => resolve());
      };
      if (child.exitCode !== null || child.signalCode !== null) leave(child.exitCode, child.signalCode);
      else child.once("exit", leave);
    });
    void this.#ended.then(() => this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child ?? {};
    if (this.#isClosed || stdin === undefined || !stdin.writable) throw new Error("it is not running");
    this.#unsolicitedBytes = 0;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    stdin.write(`${JSON.stringify(message)}\n`, (error) => (error == null ? resolve() : reject(error)));
    return promise;
  }

  /** Ends the server and everything it started. A second call waits for the same end. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    const child = this.#child;
    if (child !== null && this.#ended !== null) {
      child.stdin.end();
      await Promise.race([this.#ended, pause(LEAVE_MS)]);
      if (this.#exit === "") this.#exit = "closed";
      try {
        if (this.#identity !== null) await endGroup(this.#identity);
      } catch (error) {
        this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      }
      child.stdout.destroy();
      child.stderr.destroy();
    }
    this.#watcher?.kill("SIGKILL");
    this.onclose?.();
  }

  #read(bytes: Uint8Array): void {
    if (this.#isClosed && this.#exit !== "") return;
    this.#unsolicitedBytes += bytes.length;
    let from = 0;
    for (let index = bytes.indexOf(LINE_FEED); index !== -1; index = bytes.indexOf(LINE_FEED, from)) {
      this.#keep(bytes.subarray(from, index));
      this.#deliver();
      from = index + 1;
    }
    this.#keep(bytes.subarray(from));
    if (this.#lineBytes > LINE_BYTES_MAX || this.#unsolicitedBytes > UNASKED_BYTES_MAX) this.#endFlood();
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#lineBytes += bytes.length;
    // A line that is too long is dropped.
    if (this.#lineBytes <= LINE_BYTES_MAX) this.#lines.push(bytes);
  }

  #deliver(): void {
    const isWhole = this.#lineBytes <= LINE_BYTES_MAX;
    const line = isWhole ? Buffer.concat(this.#lines).toString("utf8") : "";
    [this.#lines, this.#lineBytes] = [[], 0];
    if (!isWhole) return this.#endFlood();
    let message: JSONRPCMessage;
    try {
      message = readJson(line) as JSONRPCMessage;
    } catch {
      return; // some print here what is meant for people
    }
    // In order: messages before an answer are delivered before it.
    this.#delivery = this.#delivery.then(() => this.onmessage?.(message)).catch(() => undefined);
  }

  #endFlood(): void {
    if (this.#exit !== "") return;
    this.#exit = "was stopped because its output exceeded the limit";
    [this.#lines, this.#lineBytes] = [[], 0];
    this.#child?.stdout.pause();
    void this.close();
  }
}

function watch(pid: number): ChildProcess {
  const watcher = spawn("/bin/sh", ["-c", WATCH, "holdfast", String(pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  watcher.on("error", () => undefined);
  watcher.stdin?.on("error", () => undefined);
  return watcher;
}
