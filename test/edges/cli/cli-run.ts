import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { tempDir } from "../../support/temp-dir.ts";
import { programFile } from "../../support/programs.ts";

export const ROOT: string = fileURLToPath(new URL("../../..", import.meta.url));
export const MAIN: string = programFile(join(ROOT, "src/edges/cli/main.ts"));

export interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export type Input = string | Uint8Array | Iterable<string | Uint8Array>;

/** Runs the real command line in a process of its own. */
export async function runCli(store: string, args: readonly string[], input: Input = ""): Promise<Ran> {
  const env = {
    ...process.env,
    HOLDFAST_STORE: store,
    HOLDFAST_SPACE: "",
    NO_COLOR: "",
    TZ: "UTC",
  };
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["pipe", "pipe", "pipe"], env });
  // A command may refuse its input before it has read all of it.
  child.stdin.on("error", () => undefined);
  Readable.from(typeof input === "string" || input instanceof Uint8Array ? [input] : input).pipe(child.stdin);
  const [out, err] = [textOf(child.stdout), textOf(child.stderr)];
  const [status] = (await once(child, "close")) as [number | null];
  return { status, out: await out, err: await err };
}

async function textOf(stream: Readable): Promise<string> {
  return Buffer.concat(await stream.toArray()).toString("utf8");
}

/** The lines of JSON a command printed. */
export function jsonLines(text: string): readonly { readonly [name: string]: unknown }[] {
  return text
    .trimEnd()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { readonly [name: string]: unknown });
}

export function said(role: "user" | "assistant", text: string, more: object = {}): string {
  return JSON.stringify({ type: "message", ...more, message: { role, content: [{ type: "text", text }] } });
}

/** A folder with one store of each durable kind; gone when the tests are over. */
export function someStores(): Disposable & { readonly dir: string; readonly addresses: readonly string[] } {
  const folder = tempDir();
  return {
    dir: folder.path,
    addresses: [`sqlite:${join(folder.path, "store.db")}`, `jsonl:${join(folder.path, "logs")}`],
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}
