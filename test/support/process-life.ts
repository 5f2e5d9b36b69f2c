import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { programFile } from "./programs.ts";

/** How a process ended, and what it had said by then. */
export interface ProcessLife {
  readonly signal: string;
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of this folder in a process of its own to its end, whatever ends it. */
export async function runProgram(program: string, ...given: readonly string[]): Promise<ProcessLife> {
  const child = spawn(process.execPath, [programFile(program), ...given], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [exit, stdout, stderr] = await Promise.all([
    once(child, "exit"),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { signal: String(exit[1]), code: exit[0] as number | null, stdout, stderr };
}
