import { fieldsOf, wordsIn } from "#log/json/json-fields";
import type { Tool, ToolOutput } from "#turn/effects/tool";
import { runChild, type ChildEnd } from "./child-process.ts";

const TIMEOUT_MS = 120_000;

export interface ShellOptions {
  readonly cwd: string;
  /** This process's own unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs?: number;
}

/** Runs a command of the shell. What it starts is ended with it, with the turn, and after a crash by whoever finds it. */
export function shellTool({ cwd, env, timeoutMs = TIMEOUT_MS }: ShellOptions): Tool {
  return {
    name: "shell",
    description: `Runs a command with /bin/sh in the folder of the conversation and gives what it writes and its exit code. It has ${timeoutMs / 1_000} seconds, and reads no input. What it leaves in the background is ended with it.`,
    input: {
      type: "object",
      properties: { command: { type: "string", description: "The command line" } },
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
  return `stopped: ${isLate ? "its time is over" : "the turn is over"}; what it had done by then is not undone`;
}
