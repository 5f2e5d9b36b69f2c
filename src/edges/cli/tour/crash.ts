import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const LINES = 5_000; // far more than are written before the end comes
const MAIN = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../main.ts" : "../main.js", import.meta.url),
);

/** Starts a real process that appends line by line, and kills it the hard way while it writes. Gives what it was told is stored. */
export async function crashWhileAppending(
  store: string,
  conversation: string,
  killAfter: number,
): Promise<readonly string[]> {
  const child = spawn(process.execPath, [MAIN, "--store", store, "append", conversation, "--each"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const exited = once(child, "exit");
  // The pipe breaks when the reader dies; that is the point.
  child.stdin.on("error", () => undefined);
  for (let number = 1; number <= LINES; number++) {
    child.stdin.write(
      `${JSON.stringify({ type: "message", message: { role: "user", content: [{ type: "text", text: `Step ${number}` }] } })}\n`,
    );
  }
  const acknowledged: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push((JSON.parse(line) as { id: string }).id);
    if (acknowledged.length === killAfter) child.kill("SIGKILL");
  }
  await exited;
  return acknowledged;
}
