/** An editor's side of the wire: raw bytes both ways, every line kept as it came, every wait bounded. */
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { updateIn, wordsOf } from "./shown-updates.ts";
import { fieldsOf, type Fields, type RpcError, textOf } from "../../support/scripted-agent/wire.ts";
import { PassThrough, type Readable, type Writable } from "node:stream";
import type { Sink } from "#edges/cli/command";
import { run } from "#edges/cli/run-command";
import { styleFor } from "#edges/cli/terminal/terminal";

/** What a host has of the bridge that it started: a process, or what stands for one. */
interface Life extends EventEmitter {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly pid?: number | undefined;
  readonly exitCode: number | null;
  readonly signalCode: string | null;
  kill(signal: "SIGKILL"): void;
}

/** A command line in this process, for what it says: it begins in a tenth of the time that a process takes, and cannot be killed. */
class LifeHere extends EventEmitter implements Life {
  readonly stdin: PassThrough = new PassThrough();
  readonly stdout: PassThrough = new PassThrough();
  readonly stderr: PassThrough = new PassThrough();
  readonly signalCode: null = null;
  exitCode: number | null = null;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    super();
    void this.#live(args, env);
  }

  async #live(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
    this.exitCode = await run(args, {
      stdin: this.stdin,
      stdinIsTerminal: false,
      out: sinkOn(this.stdout),
      err: sinkOn(this.stderr),
      env,
      catchInterrupt: () => new AbortController().signal,
    });
    this.emit("exit", this.exitCode, null);
  }

  kill(): void {
    throw new Error("It runs in this process; open one that has its own");
  }
}

function sinkOn(stream: PassThrough): Sink {
  return {
    isTerminal: false,
    style: styleFor(false, {}),
    columns: 80,
    write: async (text) => void stream.write(text),
    // Whoever wrote them may use them again.
    writeBytes: async (bytes) => void stream.write(Uint8Array.from(bytes)),
  };
}

const WAIT_MS = 150_000; // far beyond what anything takes, so that only a hang meets it
const END_MS = 40_000; // only what does not leave by itself meets it

export interface Command {
  /** Null: the command line is run in this process. */
  readonly file: string | null;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

export type Outcome =
  | { readonly result: Fields; readonly error: null }
  | { readonly result: null; readonly error: RpcError };

export interface Prompted {
  readonly result: Fields | null;
  readonly error: RpcError | null;
  /** The updates of this session between the prompt and its answer. */
  readonly updates: readonly Fields[];
  /** The words of the agent among them. */
  readonly text: string;
}

export class AcpHost {
  readonly #command: Command;
  readonly #events = new EventEmitter({ captureRejections: false });
  /** Every line ever received, over all lives of the process, without its line feed. */
  readonly lines: Buffer[] = [];
  readonly messages: Fields[] = [];
  /** The methods of the requests it sent, by their ids. */
  readonly asked: Map<unknown, string> = new Map();
  /** What a permission is answered with; `runCli`: nothing, until the test answers it. */
  policy: "allow" | "reject" | "hold" = "allow";
  /** Answers to requests other than permissions, by method. */
  readonly answers: Map<string, (params: Fields) => unknown> = new Map();
  stderr: string = "";
  #child: Life;
  /** The pieces of a line whose end has not come. */
  #rest: Buffer[] = [];
  #lastId: number = 0;

  constructor(command: Command) {
    this.#command = command;
    this.#events.setMaxListeners(0);
    this.#child = this.#start();
  }

  #start(): Life {
    const { file, args, env, cwd } = this.#command;
    const child: Life =
      file === null
        ? new LifeHere(args, env)
        : spawn(file, args, { stdio: ["pipe", "pipe", "pipe"], env, cwd });
    child.stdin.on("error", () => undefined); // it may die while we write
    child.stderr.on("data", (piece: Buffer) => (this.stderr += piece.toString("utf8")));
    child.stdout.on("data", (piece: Buffer) => this.#receive(piece));
    child.on("exit", () => this.#events.emit("change"));
    this.#rest = [];
    return child;
  }

  #receive(piece: Buffer): void {
    let rest = piece;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const line = Buffer.concat([...this.#rest.splice(0), rest.subarray(0, end)]);
      rest = rest.subarray(end + 1);
      this.lines.push(line);
      const message = parsed(line);
      this.messages.push(message);
      if (message["method"] !== undefined && message["id"] !== undefined) this.#asks(message);
    }
    if (rest.length > 0) this.#rest.push(rest);
    this.#events.emit("change");
  }

  #asks(message: Fields): void {
    const method = textOf(message["method"]);
    const params = fieldsOf(message["params"]);
    const known = this.answers.get(method);
    if (known !== undefined) return this.respond(message["id"], known(params));
    if (method !== "session/request_permission" || this.policy === "hold") return;
    const wanted = this.policy === "allow" ? "allow_once" : "reject_once";
    const options = params["options"] as readonly Fields[];
    const optionId = options.find((option) => option["kind"] === wanted)?.["optionId"];
    this.respond(message["id"], { outcome: { outcome: "selected", optionId } });
  }

  /** Everything that was ever received, as one piece. */
  bytes(): Buffer {
    return Buffer.concat(this.lines);
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error("It has no process of its own");
    return pid;
  }

  get exited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Stops reading, as an editor does that is busy or stands in a debugger. */
  stopReading(): void {
    this.#child.stdout.pause();
  }

  readOn(): void {
    this.#child.stdout.resume();
  }

  write(bytes: Uint8Array | string): void {
    this.#child.stdin.write(bytes);
  }

  #send(message: Fields): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  notify(method: string, params: Fields): void {
    this.#send({ method, params });
  }

  respond(id: unknown, result: unknown): void {
    this.#send({ id, result });
  }

  /** The first thing `find` finds in what has come or will come; rejects when nothing does in time. */
  async until<T>(what: string, find: () => T | undefined): Promise<T> {
    const late = AbortSignal.timeout(WAIT_MS);
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.exited) throw new Error(`Waited for ${what}; the process is gone\n${this.stderr}`);
      try {
        await once(this.#events, "change", { signal: late });
      } catch {
        const last = this.lines.slice(-5).map((line) => line.toString("utf8").slice(0, 400));
        throw new Error(`Waited for ${what}; last came\n${last.join("\n")}\n${this.stderr}`);
      }
    }
  }

  /** The first message that fits, from `from` on. */
  async message(what: string, fits: (message: Fields) => boolean, from: number = 0): Promise<Fields> {
    return this.until(what, () => this.messages.slice(from).find(fits));
  }

  /** The first update that fits, from `from` on. */
  async update(fits: (update: Fields) => boolean, from: number = 0): Promise<Fields> {
    const isOne = (message: Fields): boolean => fits(fieldsOf(fieldsOf(message["params"])["update"]));
    return this.message(
      "an update",
      (message) => message["method"] === "session/update" && isOne(message),
      from,
    );
  }

  /** Sends a request and gives the id to wait for. */
  ask(method: string, params: Fields): number {
    const id = ++this.#lastId;
    this.asked.set(id, method);
    this.#send({ id, method, params });
    return id;
  }

  /** Sends a request whose bytes the test decides, but for the id. */
  askRaw(line: (id: number) => string): number {
    const id = ++this.#lastId;
    this.write(`${line(id)}\n`);
    return id;
  }

  async answerTo(id: number): Promise<Outcome> {
    const answer = await this.message(
      `the answer to ${id}`,
      (message) => message["id"] === id && message["method"] === undefined,
    );
    const { error } = answer;
    if (error !== undefined) return { result: null, error: error as RpcError };
    return { result: fieldsOf(answer["result"]), error: null };
  }

  async request(method: string, params: Fields): Promise<Outcome> {
    return this.answerTo(this.ask(method, params));
  }

  /** The result, where an error would be a failure of the test. */
  async call(method: string, params: Fields): Promise<Fields> {
    const { result, error } = await this.request(method, params);
    if (error !== null) throw new Error(`${method}: ${JSON.stringify(error)}\n${this.stderr}`);
    return result;
  }

  async initialize(clientCapabilities: Fields = {}): Promise<Fields> {
    const fs = { readTextFile: true, writeTextFile: true };
    return this.call("initialize", {
      protocolVersion: 1,
      clientInfo: { name: "test-host", version: "1.0.0" },
      clientCapabilities: { fs, terminal: true, ...clientCapabilities },
    });
  }

  async newSession(params: Fields = {}): Promise<string> {
    const result = await this.call("session/new", { cwd: this.#command.cwd, mcpServers: [], ...params });
    return textOf(result["sessionId"]);
  }

  async load(sessionId: string, params: Fields = {}): Promise<Outcome> {
    return this.request("session/load", { sessionId, cwd: this.#command.cwd, mcpServers: [], ...params });
  }

  /** Sends a prompt and gives the request's id. */
  start(sessionId: string, text: string): number {
    return this.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  async prompt(sessionId: string, text: string): Promise<Prompted> {
    const from = this.messages.length;
    return this.finish(sessionId, this.start(sessionId, text), from);
  }

  /** Waits for a prompt that was started, and gathers what its session was told since `from`. */
  async finish(sessionId: string, id: number, from: number): Promise<Prompted> {
    const { result, error } = await this.answerTo(id);
    const until = this.messages.findIndex(
      (message) => message["id"] === id && message["method"] === undefined,
    );
    const updates = this.updates(sessionId, from, until);
    return { result, error, updates, text: wordsOf(updates) };
  }

  updates(sessionId: string, from: number = 0, until: number = Infinity): readonly Fields[] {
    return this.messages
      .slice(from, until)
      .filter((message) => message["method"] === "session/update")
      .map((message) => fieldsOf(message["params"]))
      .filter((params) => params["sessionId"] === sessionId)
      .map(updateIn);
  }

  /** Ends it as the kernel would: no goodbye. */
  async kill(): Promise<void> {
    if (this.exited) return;
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await gone;
  }

  /** Starts it anew over whatever it left behind, and greets it. */
  async restart(): Promise<void> {
    await this.kill();
    this.#child = this.#start();
    await this.initialize();
  }

  /** Hangs up and waits; what does not leave by itself is ended. */
  async hangUp(): Promise<number | null> {
    if (this.exited) return this.#child.exitCode;
    const gone = once(this.#child, "exit", { signal: AbortSignal.timeout(END_MS) });
    this.#child.stdin.end();
    try {
      await gone;
    } catch {
      await this.kill();
    }
    return this.#child.exitCode;
  }
}

/** A line that is no JSON is kept as a line only. */
function parsed(line: Buffer): Fields {
  try {
    return fieldsOf(JSON.parse(line.toString("utf8")));
  } catch {
    return {};
  }
}
