import { fieldsOf, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { Tool } from "#turn/effects/tool";
import { runChild } from "#agent/tools/child-process";
import { childOutput } from "#agent/tools/shell-tool";

const TIMEOUT_MS = 10_000;
const MEMORY_MB = 128;

export interface CodeExecutionOptions {
  readonly cwd: string;
  readonly timeoutMs?: number;
  /** How much its objects may take. */
  readonly memoryMb?: number;
}

/**
 * An example of a tool with limits: a module of JavaScript in a process of its own. Its time and memory are bounded and it
 * is given no environment; what it does to files and the network is not, so it needs permission like a shell.
 */
export function codeExecution(options: CodeExecutionOptions): Tool {
  const { cwd, timeoutMs = TIMEOUT_MS, memoryMb = MEMORY_MB } = options;
  return {
    name: "CodeExecution",
    description: `Runs a module of JavaScript with Node.js and gives what it prints. It has ${timeoutMs / 1_000} seconds and ${memoryMb} MB.`,
    input: {
      type: "object",
      properties: { code: { type: "string" } },
      required: ["code"],
      additionalProperties: false,
    },
    timeoutMs,
    run: async (input, call) => {
      const args = [`--max-old-space-size=${memoryMb}`, "--input-type=module", "-"];
      const command = { file: process.execPath, args, cwd, env: {}, input: codeOf(input) };
      return childOutput(await runChild(command, call), call.signal);
    },
    dryRun: async (input) => `Would run ${codeOf(input).split("\n").length} lines of JavaScript`,
  };
}

function codeOf(input: Json): string {
  return wordsIn(fieldsOf(input)["code"]);
}
