/** acpx, a client that people use from a shell, with the bridge as its agent. Each call is a process of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentsFolder, type CommandLine } from "./install.ts";
import { carriersOf, endCarriers } from "./processes.ts";
import { until } from "./until.ts";

const CALL_MS = 90_000;
const MAIN = join(import.meta.dirname, "..", "..", "src", "edges", "cli", "main.ts");

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** A call that runs: what it has printed so far, and how it ends. */
interface Running {
  out(): string;
  readonly ended: Promise<Ran>;
}

export interface Acpx extends Disposable {
  begin(...args: readonly string[]): Running;
  run(...args: readonly string[]): Promise<Ran>;
  /** The result of a call that has to work, as JSON. */
  json(...args: readonly string[]): Promise<unknown>;
  /** What was said in answer to a prompt that has to work. */
  said(prompt: string, ...args: readonly string[]): Promise<string>;
  /** Ends everything it left running: its own owner of the session, the bridge and the agent. */
  crash(): Promise<void>;
}

export function acpx(at: {
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The agent behind the bridge. */
  readonly agent: CommandLine;
}): Acpx {
  const token = randomUUID();
  const store = `sqlite:${join(at.home, "log.db")}`;
  const argv = [process.execPath, MAIN, "acp", "--store", store, "--", ...at.agent];
  mkdirSync(join(at.home, ".acpx"), { recursive: true });
  writeFileSync(join(at.home, ".acpx", "config.json"), JSON.stringify({ agents: { held: { argv } } }));
  const cli = join(agentsFolder(), "node_modules", "acpx", "dist", "cli.js");
  // Who carries the token was started from here.
  const env = { ...at.env, HOLDFAST_TEST_TOKEN: token };
  const begin = (...args: readonly string[]): Running => {
    const child = spawn(process.execPath, [cli, ...args], { cwd: at.cwd, env, timeout: CALL_MS });
    return runningOf(child);
  };
  const good = async (...args: readonly string[]): Promise<string> => {
    const { status, out, err } = await begin(...args).ended;
    if (status !== 0) throw new Error(`acpx ${args.join(" ")} ended with ${String(status)}\n${out}\n${err}`);
    return out;
  };
  return {
    begin,
    run: (...args) => begin(...args).ended,
    json: async (...args) => JSON.parse(await good("--format", "json", "held", ...args)) as unknown,
    said: (prompt, ...args) => good(...args, "--format", "quiet", "held", "prompt", prompt),
    crash: () =>
      until("the end of all that ran", () => {
        endCarriers(token);
        return carriersOf(token).length > 0 ? undefined : true;
      }).then(() => undefined),
    [Symbol.dispose]: () => endCarriers(token),
  };
}

function runningOf(child: ChildProcessWithoutNullStreams): Running {
  let [out, err] = ["", ""];
  child.stdin.end();
  child.stdout.on("data", (piece: Buffer) => (out += piece.toString("utf8")));
  child.stderr.on("data", (piece: Buffer) => (err += piece.toString("utf8")));
  const { promise, resolve } = Promise.withResolvers<Ran>();
  // Its owner of the session may hold the pipes open, so the exit counts and not their end.
  child.once("exit", (status) => setImmediate(() => resolve({ status, out, err })));
  return { out: () => out, ended: promise };
}
