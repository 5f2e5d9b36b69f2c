/** The command line in an empty folder, here or in processes of its own, with a scripted model server to talk to. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { answerOrders } from "../../support/model-server/answer-orders.ts";
import { type ModelServer, type Script, startModelServer } from "../../support/model-server.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { holdfastHere } from "./cli-here.ts";
import { MAIN, type Ran } from "./cli-run.ts";

export const MODEL = "anthropic/claude-sonnet-5-5";

/** A pseudo-terminal is had from util-linux; elsewhere the tests that need one are left out. */
export const HAS_TERMINAL: boolean = process.platform === "linux" && existsSync("/usr/bin/script");

export interface ModelCli extends AsyncDisposable {
  readonly server: ModelServer;
  /** Where commands are run. */
  readonly folder: string;
  readonly store: string;
  /** In this process, one after the other: it works in the folder. */
  run(args: readonly string[], more?: RunMore): Promise<Ran>;
  /** In a process of its own. */
  start(args: readonly string[], more?: RunMore): Running;
  /** The same at a terminal, of a kind that lines can be edited at unless told. */
  atTerminal(args: readonly string[], term?: string): Running;
}

interface RunMore {
  readonly input?: string;
  readonly env?: { readonly [name: string]: string | undefined };
}

/** A command that runs. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
  type(text: string): void;
  /** Resolves once these words were printed behind those that were waited for before. */
  printed(words: string): Promise<void>;
  readonly out: string;
}

export async function modelCli(script: Script = answerOrders): Promise<ModelCli> {
  const server = await startModelServer(script);
  const place = tempDir();
  const store = `sqlite:${join(place.path, "store.db")}`;
  const folder = place.path;
  const children: ChildProcess[] = [];
  const envOf = ({ env = {} }: RunMore): { readonly [name: string]: string | undefined } => ({
    HOLDFAST_STORE: store,
    HOLDFAST_SPACE: "",
    TZ: "UTC",
    NO_COLOR: "1",
    ANTHROPIC_API_KEY: "dummy",
    ANTHROPIC_BASE_URL: server.baseUrl("anthropic"),
    OPENAI_API_KEY: "dummy",
    OPENAI_BASE_URL: server.baseUrl("openai"),
    ...env,
  });
  const start: ModelCli["start"] = (args, more = {}) => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: folder,
      env: { ...process.env, ...envOf(more) },
    });
    children.push(child);
    return watch(child);
  };
  const atTerminal: ModelCli["atTerminal"] = (args, term = "xterm") => {
    // In place of the shell: some that are left in between die of the Ctrl-C themselves.
    const command = `exec ${[process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(" ")}`;
    const how = ["-q", "-f", "-e", "-c", command, "/dev/null"];
    const child = spawn("/usr/bin/script", how, {
      cwd: folder,
      env: { ...process.env, ...envOf({ env: { TERM: term } }) },
    });
    children.push(child);
    return watch(child);
  };
  return {
    server,
    folder,
    store,
    start,
    atTerminal,
    run: (args, more = {}) =>
      inFolder(folder, () => holdfastHere(store, args, { input: more.input ?? "", env: envOf(more) })),
    [Symbol.asyncDispose]: async () => {
      for (const child of children) child.kill("SIGKILL");
      await server.close();
      place[Symbol.dispose]();
    },
  };
}

let working: Promise<unknown> = Promise.resolve();

/** A process is in one folder at a time, so whoever wants to be in another waits. */
function inFolder(folder: string, work: () => Promise<Ran>): Promise<Ran> {
  const done = working.then(async () => {
    const before = process.cwd();
    process.chdir(folder);
    return work().finally(() => process.chdir(before));
  });
  working = done.catch(() => undefined);
  return done;
}

function watch(child: ChildProcess): Running {
  let [out, err, at] = ["", "", 0];
  let wake: () => void = () => undefined;
  const keep = (stream: Readable | null, add: (text: string) => void): void =>
    void stream?.setEncoding("utf8").on("data", (text: string) => {
      add(text);
      wake();
    });
  keep(child.stdout, (text) => void (out += text));
  keep(child.stderr, (text) => void (err += text));
  child.stdin?.on("error", () => undefined); // it may have ended by itself
  const ended = once(child, "close").then(([status]): Ran => ({ status: status as number | null, out, err }));
  let over = false;
  const end = (): void => {
    over = true;
    wake();
  };
  ended.then(end, end);
  return {
    child,
    ended,
    type: (text) => void child.stdin?.write(text),
    printed: async (words) => {
      const found = (): number => out.indexOf(words, at);
      while (found() === -1) {
        if (over) throw new Error(`It ended without printing ${JSON.stringify(words)}: ${out}${err}`);
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
      at = found() + words.length;
    },
    get out() {
      return out;
    },
  };
}
