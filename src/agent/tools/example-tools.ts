import { fieldsOf, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { Tool, ToolOutput } from "#turn/effects/tool";
import { runChild } from "./shell-tool.ts";
import { childOutput } from "#agent/tools/shell-tool";
import { appendFile } from "node:fs/promises";

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
    description: `Run a JavaScript module with Node.js and return its output. Limits: ${timeoutMs / 1_000} seconds, ${memoryMb} MB.`,
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

/** An example of a tool that ends a turn: an email, written to an outbox file as one line of JSON. */
export function composeEmail(options: { readonly outbox: string }): Tool {
  return {
    name: "ComposeEmail",
    description: "Send an email. This ends your turn.",
    input: {
      type: "object",
      properties: { to: { type: "string" }, subject: { type: "string" }, body: { type: "string" } },
      required: ["to", "subject", "body"],
      additionalProperties: false,
    },
    final: true,
    run: async (input, { idempotencyKey }) => {
      const line = JSON.stringify({ ...emailOf(input), idempotencyKey });
      await appendFile(options.outbox, `${line}\n`, { flush: true });
      return sentOutput(input, "Sent to");
    },
    dryRun: async (input) => sentOutput(input, "Would be sent to"),
  };
}

function emailOf(input: Json): { readonly to: string; readonly subject: string; readonly body: string } {
  const { to, subject, body } = fieldsOf(input);
  return { to: wordsIn(to), subject: wordsIn(subject), body: wordsIn(body) };
}

function sentOutput(input: Json, prefix: string): ToolOutput {
  const { to, subject } = emailOf(input);
  return { content: `${prefix} ${to}`, details: { type: "sentEmail", to, subject } };
}
