import { execFile, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { installDependencies, packedFile } from "../support/packed.ts";
import { tempDir } from "../support/temp-dir.ts";
import { ROOT } from "../edges/cli/cli-run.ts";
import { blocksOf, commandsIn, isShown, type PageBlock } from "./page-blocks.ts";

const run = promisify(execFile);
const PORT = "8080"; // what pages say; a test listens where nobody else does

export interface PageProject extends Disposable {
  readonly path: string;
}

/** What became of a block: its commands ran and printed what the page shows, or how they did not. */
export interface BlockResult {
  readonly block: PageBlock;
  readonly result: "ran" | "saved" | "skipped" | "failed";
  readonly detail: string;
}

/** A folder as `npm init -y` and `npm install` of the packed package leave it. */
export async function packedProject(): Promise<PageProject> {
  const folder = tempDir();
  await run("npm", ["init", "-y"], { cwd: folder.path });
  installDependencies(folder.path);
  const install = ["install", "--offline", "--no-audit", "--no-fund", await packedFile()];
  await run("npm", install, { cwd: folder.path });
  return folder;
}

/** Runs the samples of a page from top to bottom, as a reader does, in a project of its own. */
export async function runPage(
  page: string,
  from: PageProject,
  node: string,
): Promise<readonly BlockResult[]> {
  using folder = tempDir();
  copyFileSync(join(from.path, "package.json"), join(folder.path, "package.json"));
  mkdirSync(join(folder.path, "node_modules"));
  for (const name of readdirSync(join(from.path, "node_modules")))
    symlinkSync(join(from.path, "node_modules", name), join(folder.path, "node_modules", name));
  const port = await freePort();
  const results: BlockResult[] = [];
  const steps: Step[] = [];
  for (const block of blocksOf(page)) {
    const add = (result: BlockResult["result"], detail: string): void =>
      void results.push({ block, result, detail });
    if (block.skip !== null) add("skipped", block.skip);
    else if (block.file !== null) {
      steps.push({ block, kind: "save" });
      add("saved", block.file);
    } else if (block.language === "console" || block.language === "sh") steps.push({ block, kind: "run" });
  }
  const shell = new Shell(folder.path, node);
  try {
    for (const step of steps)
      if (step.kind === "save")
        writeFileSync(join(folder.path, step.block.file ?? ""), step.block.text.replaceAll(PORT, port));
      else results.push({ block: step.block, ...(await runBlock(shell, step.block, { port, from })) });
  } finally {
    await shell.close();
  }
  return results.toSorted((one, other) => one.block.line - other.block.line);
}

interface Step {
  readonly block: PageBlock;
  readonly kind: "save" | "run";
}

async function runBlock(
  shell: Shell,
  block: PageBlock,
  { port, from }: { readonly port: string; readonly from: PageProject },
): Promise<Pick<BlockResult, "result" | "detail">> {
  const text = block.text.replaceAll(PORT, port);
  if (block.language === "sh") {
    const { code, output } = await shell.run(text.trimEnd());
    return code === 0
      ? { result: "ran", detail: "" }
      : { result: "failed", detail: `exit ${code}\n${output}` };
  }
  for (const command of commandsIn(text)) {
    const packages = /^npm install ((?:[@a-z][\w/-]* ?)+)$/.exec(command.line)?.[1]?.split(" ");
    if (packages !== undefined)
      for (const folder of [shell.folder, from.path]) linkPackages(folder, packages); // holdfast loads its peers from there
    const line = packages === undefined ? command.line : "true";
    const output = block.isBackground
      ? await shell.start(line, command.output)
      : (await shell.run(line)).output;
    if (!isShown(output, command.output)) return { result: "failed", detail: `$ ${command.line}\n${output}` };
  }
  return { result: "ran", detail: "" };
}

/** The packages of others come from the checkout: a test asks no registry. */
function linkPackages(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    if (!existsSync(link)) symlinkSync(join(ROOT, "node_modules", name), link);
  }
}

const QUIET = /^npm warn Unknown user config.*\n|^\(node:\d+\) ExperimentalWarning:.*\n\(Use .*\n/gm;

const SECOND = "second> "; // marks the output of what runs as in a second terminal
const SECOND_LINE = new RegExp(`${SECOND}.*\\n`, "g");

/** One shell for a page, so that what one block sets holds in the next. */
class Shell {
  readonly folder: string;
  readonly #shell;
  #output = "";
  #commands = 0;

  constructor(folder: string, node: string) {
    this.folder = folder;
    const tools = [join(folder, "node_modules/.bin"), dirname(node), process.env["PATH"] ?? ""];
    const env = { PATH: tools.join(delimiter), HOME: folder, TERM: "dumb", LANG: "C.UTF-8", EDITOR: "true" };
    this.#shell = spawn("/bin/bash", ["--norc"], { cwd: folder, env, detached: true });
    const read = (data: string): void => void ((this.#output += data), this.#shell.emit("text"));
    this.#shell.stdout.setEncoding("utf8").on("data", read);
    this.#shell.stderr.setEncoding("utf8").on("data", read);
  }

  async run(command: string): Promise<{ readonly code: number; readonly output: string }> {
    const mark = `--end-${++this.#commands}`;
    const from = this.#output.length;
    this.#shell.stdin.write(`{ ${command}\n} 2>&1 < /dev/null\necho "${mark} $?"\n`);
    const end = await this.#until((text) => new RegExp(`${mark} (\\d+)\n`).exec(text), from);
    const output = this.#output.slice(from, from + end.index).replaceAll(QUIET, "");
    return { code: Number(end[1]), output: output.replaceAll(SECOND_LINE, "") };
  }

  /** Starts what keeps running, and waits until it has printed what the page shows. */
  async start(command: string, shown: readonly string[]): Promise<string> {
    const from = this.#output.length;
    const mark = `while IFS= read -r line; do echo "${SECOND}$line"; done`;
    this.#shell.stdin.write(`{ ${command}\n} 2>&1 < /dev/null | ${mark} &\n`);
    const isReady = (text: string): string | null => {
      const lines = text.match(SECOND_LINE)?.join("").replaceAll(SECOND, "") ?? "";
      const printed = lines.replaceAll(QUIET, "");
      return isShown(printed, [...shown, "…"]) ? printed : null;
    };
    const printed = await this.#until(isReady, from);
    return isShown(printed, shown) ? printed : shown.join("\n");
  }

  async close(): Promise<void> {
    const ended = once(this.#shell, "close");
    if (this.#shell.pid !== undefined) process.kill(-this.#shell.pid, "SIGKILL");
    await ended;
  }

  async #until<T>(find: (text: string) => T | null, from: number): Promise<T> {
    for (;;) {
      const found = find(this.#output.slice(from));
      if (found !== null) return found;
      if (this.#shell.exitCode !== null) throw new Error(`The shell ended: ${this.#output.slice(from)}`);
      await once(this.#shell, "text");
    }
  }
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return String(typeof address === "object" ? address?.port : "");
}
