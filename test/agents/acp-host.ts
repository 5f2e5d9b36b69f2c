/**
 * The least an editor does: lines of JSON to and from a child process, every line kept as it came.
 * The SDK's client is not used on purpose: it reorders and drops what a test must see.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { answerTo, type Policy } from "./host-answers.ts";
import type { CommandLine } from "./install.ts";
import { at, parsed, textAt } from "./json.ts";
import { carriersOf, endCarriers, type Running } from "./processes.ts";

/** A line of the wire. */
interface Line {
  readonly from: "agent" | "host";
  readonly raw: string;
  readonly message: unknown;
}

/** The response to a request, with the number of its line in `lines`. */
interface Answer {
  readonly result?: unknown;
  readonly error?: unknown;
  readonly line: number;
}

export interface HostOptions {
  readonly command: CommandLine;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** What is said to a permission request; `runCli` leaves it open. */
  readonly policy?: Policy;
}

export interface AcpHost extends AsyncDisposable {
  readonly pid: number;
  readonly lines: readonly Line[];
  readonly stderr: () => string;
  policy: Policy;
  /** The response, whether it is a result or an error; throws only when none comes. */
  ask(method: string, params: unknown, withinMs?: number): Promise<Answer>;
  /** Sends without waiting; `answered` waits for it later. */
  send(method: string, params: unknown): number;
  answered(id: number, withinMs?: number): Promise<Answer>;
  notify(method: string, params: unknown): void;
  /** Answers a request of the agent that a policy of `runCli` left open. */
  reply(request: Line, result: unknown): void;
  /** Resolves with the first line of the agent, from line `since` on, that fits. */
  until(fits: (line: Line) => boolean, options?: Until): Promise<Line>;
  exited(withinMs?: number): Promise<number | null>;
  /** The bodies of the `session/update`s from line `since` on. */
  updates(since?: number): readonly unknown[];
  /** Everything that runs because this agent was started. */
  running(): readonly Running[];
  /** End of input, as an editor that quits. */
  close(): Promise<void>;
  /** SIGKILL to the started process alone: what it started lives on. */
  kill(): Promise<void>;
}

interface Until {
  readonly what?: string;
  readonly since?: number;
  readonly withinMs?: number;
}

const ANSWER_MS = 60_000;
const EXIT_MS = 15_000;

export function startHost({ command, env, cwd, policy = "allow" }: HostOptions): AcpHost {
  const token = `holdfast-test-${randomUUID()}`;
  const [program, ...args] = command;
  // Its own group, so that nothing a test does to it reaches the test run.
  const child = spawn(program, args, { cwd, env: { ...env, AGENT_TEST_TOKEN: token }, detached: true });
  const wire = new Wiretap(child);
  let requests = 0;
  const write = (message: object): void => wire.write(JSON.stringify({ jsonrpc: "2.0", ...message }));

  const host: AcpHost = {
    pid: child.pid ?? 0,
    lines: wire.lines,
    stderr: () => wire.stderr,
    policy,
    send: (method, params) => {
      requests += 1;
      write({ id: requests, method, params });
      return requests;
    },
    ask: (method, params, withinMs) => host.answered(host.send(method, params), withinMs),
    answered: async (id, withinMs = ANSWER_MS) => {
      const line = await host.until((one) => isAnswer(one.message, id), {
        what: `answer ${String(id)}`,
        withinMs,
      });
      return { ...(line.message as object), line: wire.lines.indexOf(line) };
    },
    notify: (method, params) => write({ method, params }),
    reply: (request, result) => write({ id: at(request.message, "id"), result }),
    until: (fits, { what = "a line", since = 0, withinMs = ANSWER_MS } = {}) =>
      wire.until((line, index) => index >= since && line.from === "agent" && fits(line), what, withinMs),
    exited: (withinMs = EXIT_MS) => within(wire.exit, withinMs, "the end of the process"),
    updates: (since = 0) => wire.lines.slice(since).flatMap(updateOf),
    running: () => carriersOf(token),
    close: async () => {
      child.stdin.end();
      await host.exited();
    },
    kill: async () => {
      child.kill("SIGKILL");
      await host.exited();
    },
    [Symbol.asyncDispose]: async () => {
      endCarriers(token);
      await host.exited();
    },
  };
  wire.onRequest = (request) => {
    const answer = answerTo(request.message, host.policy);
    if (answer !== undefined) write({ id: at(request.message, "id"), ...answer });
  };
  return host;
}

class Wiretap {
  readonly lines: Line[] = [];
  readonly exit: Promise<number | null>;
  stderr = "";
  onRequest: (line: Line) => void = () => undefined;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Set<() => void>();
  #over = false;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.exit = new Promise((done) => {
      child.once("exit", (code) => done(code));
      child.once("error", () => done(null));
    });
    // A dead agent is noticed by the missing answer, not by an error of the pipe to it.
    child.stdin.on("error", () => undefined);
    child.stderr.on("data", (data: Buffer) => {
      this.stderr += data.toString("utf8");
    });
    const reader = createInterface({ input: child.stdout, crlfDelay: Infinity });
    reader.on("line", (raw) => this.#receive({ from: "agent", raw, message: parsed(raw) }));
    reader.on("close", () => {
      this.#over = true;
      this.#wake();
    });
  }

  write(raw: string): void {
    this.lines.push({ from: "host", raw, message: parsed(raw) });
    this.#child.stdin.write(`${raw}\n`);
  }

  until(fits: (line: Line, index: number) => boolean, what: string, withinMs: number): Promise<Line> {
    let look = 0;
    const found = new Promise<Line>((resolve, reject) => {
      const check = (): void => {
        const rest = this.lines.findIndex((line, index) => index >= look && fits(line, index));
        look = this.lines.length;
        const line = this.lines[rest];
        if (line === undefined && !this.#over) return;
        this.#waiting.delete(check);
        if (line === undefined) reject(new Error(`The output ended before ${what}\n${this.#tail()}`));
        else resolve(line);
      };
      this.#waiting.add(check);
      check();
    });
    return within(found, withinMs, `${what}\n${this.#tail()}`);
  }

  #receive(line: Line): void {
    this.lines.push(line);
    if (textAt(line.message, "method") !== "" && at(line.message, "id") !== undefined) this.onRequest(line);
    this.#wake();
  }

  #wake(): void {
    for (const check of this.#waiting) check();
  }

  #tail(): string {
    const lines = this.lines.slice(-6).map(({ from, raw }) => `${from}: ${raw.slice(0, 400)}`);
    return [...lines, this.stderr.slice(-1500)].join("\n");
  }
}

function isAnswer(message: unknown, id: number): boolean {
  return at(message, "id") === id && at(message, "method") === undefined;
}

function updateOf({ from, message }: Line): readonly unknown[] {
  return from === "agent" && textAt(message, "method") === "session/update"
    ? [at(message, "params", "update")]
    : [];
}

/** What the agent said to the person in these updates, without its thoughts. */
export function spoken(updates: readonly unknown[]): string {
  return updates
    .filter((update) => textAt(update, "sessionUpdate") === "agent_message_chunk")
    .map((update) => textAt(update, "content", "text"))
    .join("");
}

/** The last state of each tool call, by its id. */
export function toolStates(updates: readonly unknown[]): ReadonlyMap<string, string> {
  const states = new Map<string, string>();
  for (const update of updates) {
    const id = textAt(update, "toolCallId");
    if (id !== "") states.set(id, textAt(update, "status") || (states.get(id) ?? ""));
  }
  return states;
}

async function within<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${String(ms)} ms for ${what}`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
