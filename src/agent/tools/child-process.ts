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
import type { ToolRun } from "#turn/effects/tool";

export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** This process's own unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What it reads; nothing unless given. */
  readonly input?: string;
}

export interface ChildEnd {
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
  if (!(await stat(cwd).catch(() => null))?.isDirectory()) throw new Error(`There is no folder ${cwd}`);
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

/** The beginning and the end of what was written, however much that is. */
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
    const gap = this.#leftOut === 0 ? "" : `\n[${this.#leftOut} characters were not kept]\n`;
    return this.#head + gap + this.#tail.join("");
  }
}
