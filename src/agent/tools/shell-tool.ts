import { fieldsOf, wordsIn } from "#log/json/json-fields";
import type { Tool, ToolOutput, ToolRun } from "#turn/effects/tool";
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import {
  endGroup,
  identityOf,
  identityText,
  type ProcessIdentity,
  TOOL_TOKEN_NAME,
} from "#turn/effects/process-group";

const TIMEOUT_MS = 120_000;

export interface ShellOptions {
  readonly cwd: string;
  /** Environment variables (default: those of this process). */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs?: number;
}

/** Runs a shell command. Its processes end with it, with the turn, or after a crash when another process recovers the turn. */
export function shellTool({ cwd, env, timeoutMs = TIMEOUT_MS }: ShellOptions): Tool {
  return {
    name: "shell",
    description: `Run a command with /bin/sh in the working directory and return its output and exit code. Limit: ${timeoutMs / 1_000} seconds. Standard input is empty. Background processes are stopped when the command ends.`,
    input: {
      type: "object",
      properties: { command: { type: "string", description: "Command line" } },
      required: ["command"],
      additionalProperties: false,
    },
    timeoutMs,
    run: async (input, call) => {
      const command = wordsIn(fieldsOf(input)["command"]);
      const end = await runChild(
        { file: "/bin/sh", args: ["-c", command], cwd, ...(env === undefined ? {} : { env }) },
        call,
      );
      return childOutput(end, call.signal);
    },
    dryRun: async (input) => `Would run: ${wordsIn(fieldsOf(input)["command"])}`,
  };
}

/** What a model is told of a process that ended. */
export function childOutput(end: ChildEnd, signal: AbortSignal): ToolOutput {
  const { exitCode, output, stopped } = end;
  const gap = output === "" || output.endsWith("\n") ? "" : "\n";
  const details = { exitCode, signal: end.signal, ...(stopped ? { stopped } : {}) };
  return {
    content: `${output}${gap}[${endText(end, signal)}]`,
    details,
    isError: stopped || exitCode !== 0,
  };
}

function endText({ exitCode, signal, stopped }: ChildEnd, cause: AbortSignal): string {
  if (!stopped) return exitCode === null ? `ended by ${signal}` : `exit code ${exitCode}`;
  const isLate = cause.reason instanceof Error && cause.reason.name === "TimeoutError";
  return `stopped: ${isLate ? "the time limit was reached" : "the turn ended"}. Anything it did before that is not undone`;
}

interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Environment variables (default: those of this process). */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The process's input (default: none). */
  readonly input?: string;
}

interface ChildEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** What it wrote, errors among it, in the order it came. */
  readonly output: string;
  /** It was told to stop. */
  readonly stopped: boolean;
}

const LAST_WORDS_MS = 100; // what a process said last may still be in the pipe, which its own children may hold open
const PART_CHARS_MAX = 8_388_608; // of the beginning and of the end: what a process may cost in memory

// The command begins once its process is in the log; if that never happens, the pipe breaks and it ends unrun. One pipe
// for all that it says keeps the order.
const GATE = `read -r go <&3 || exit 125; exec 3<&-; ${TOOL_TOKEN_NAME}=$1; export ${TOOL_TOKEN_NAME}; shift; exec "$@" 2>&1`;

/**
 * Runs a command in a process group of its own and ends the whole group with it, or when it is told to stop. Whoever
 * finds the turn after a crash of this process can end it: it is known before it begins.
 */
export async function runChild(
  command: ChildCommand,
  call: Pick<ToolRun, "signal" | "progress" | "recordProcess">,
): Promise<ChildEnd> {
  const { child, identity } = await startWaiting(command);
  const output = new OutputBuffer(call.progress);
  output.listen(child.stdout);
  const exited = new Promise<readonly [number | null, string | null]>((resolve) => {
    child.once("exit", (code, signal) => resolve([code, signal]));
  });
  const closed = new Promise<void>((resolve) => void child.once("close", () => resolve()));
  child.on("error", () => undefined);
  const stop = (): void => void endGroup(identity).catch(() => undefined);
  try {
    await call.recordProcess(identityText(identity));
    call.signal.addEventListener("abort", stop, { once: true });
    const gate = child.stdio[3] as Writable;
    gate.on("error", () => undefined);
    if (call.signal.aborted) gate.destroy();
    else gate.end("go\n");
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(command.input ?? "");
    const [exitCode, signal] = await exited;
    await Promise.race([closed, pause(LAST_WORDS_MS)]);
    return { exitCode, signal, output: output.text(), stopped: call.signal.aborted };
  } finally {
    call.signal.removeEventListener("abort", stop);
    // Also what it left in the background, and all of it when it could not be made known.
    await endGroup(identity);
    child.stdout?.destroy();
  }
}

async function startWaiting(
  command: ChildCommand,
): Promise<{ readonly child: ChildProcess; readonly identity: ProcessIdentity }> {
  const { file, args, cwd, env, input } = command;
  if (!(await stat(cwd).catch(() => null))?.isDirectory()) throw new Error(`Folder not found: ${cwd}`);
  const token = randomUUID();
  const child = spawn("/bin/sh", ["-c", GATE, "holdfast", token, file, ...args], {
    cwd,
    ...(env === undefined ? {} : { env }),
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "ignore", "pipe"],
    detached: true,
  });
  await once(child, "spawn");
  return { child, identity: await identityOf(child.pid ?? 0, token) };
}

/** Collects the start and the end of a process's output, however long it is. */
class OutputBuffer {
  readonly #onText: (text: string) => void;
  #head: string = "";
  #tail: string[] = [];
  #tailChars: number = 0;
  #leftOut: number = 0;

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  listen(stream: Readable | null): void {
    stream?.setEncoding("utf8");
    stream?.on("data", (text: string) => this.#add(text));
    stream?.on("error", () => undefined);
  }

  #add(text: string): void {
    this.#onText(text);
    const room = PART_CHARS_MAX - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    const rest = text.slice(Math.max(room, 0));
    if (rest === "") return;
    this.#tail.push(rest);
    this.#tailChars += rest.length;
    while (this.#tailChars - (this.#tail[0]?.length ?? 0) > PART_CHARS_MAX) {
      const dropped = this.#tail.shift()?.length ?? 0;
      this.#tailChars -= dropped;
      this.#leftOut += dropped;
    }
  }

  text(): string {
    const gap = this.#leftOut === 0 ? "" : `\n[${this.#leftOut} characters omitted]\n`;
    return this.#head + gap + this.#tail.join("");
  }
}
