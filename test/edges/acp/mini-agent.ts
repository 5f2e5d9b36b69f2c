/**
 * An agent of a few lines, for what the scripted one does not say: each test gives the body that hears a message. It
 * runs in a process of its own, with `say(line)` for raw lines and `answer(id, result)`.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "../../support/temp-dir.ts";
import { runHere } from "../cli/cli-here.ts";
import { jsonLines, MAIN } from "../cli/cli-run.ts";
import { AcpHost, type Command } from "./host.ts";
import type { Fields } from "../../support/scripted-agent/wire.ts";

/** For a body: a turn that waits is ended by a cancel; one that comes while there is no turn is dropped, as real agents drop it. */
export const ENDS_BY_CANCEL: string = `
  if (method === "session/cancel") {
    const open = waiting.get(params.sessionId);
    waiting.delete(params.sessionId);
    if (open !== undefined) answer(open, { stopReason: "cancelled" });
    return true;
  }
`;

/** What every one of them does unless the test's own body has dealt with the message. */
const PRELUDE = `
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const dir = process.argv[2];
let made = 0;
const waiting = new Map();
const say = (line) => process.stdout.write(line + "\\n");
const answer = (id, result) => say(JSON.stringify({ jsonrpc: "2.0", id, result }));
const fail = (id, error) => say(JSON.stringify({ jsonrpc: "2.0", id, error }));
const update = (sessionId, update) =>
  say(JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } }));
const chunk = (sessionId, text) =>
  update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const textOf = ({ prompt }) => prompt.map((block) => block.text ?? "").join("").split("\\n").at(-1);
appendFileSync(dir + "/pids", process.pid + "\\n");
const usual = ({ id, method, params }) => {
  if (method === "initialize")
    return answer(id, { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { close: {} } } });
  if (method === "session/new") return answer(id, { sessionId: "upstream-" + process.pid + "-" + ++made });
  if (method === "session/prompt") {
    chunk(params.sessionId, "You said " + textOf(params));
    return answer(id, { stopReason: "end_turn" });
  }
  if (method !== undefined && id !== undefined) return answer(id, {});
};
createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync(dir + "/lines", line + "\\n");
  const message = JSON.parse(line);
  if (hear(message) !== true) usual(message);
}).on("close", () => globalThis.kept === undefined && process.exit(0));
`;

export interface MiniBridge extends AsyncDisposable {
  readonly host: AcpHost;
  readonly dir: string;
  /** Starts the same bridge once more. */
  readonly command: Command;
  /** What the agent was sent. */
  received(method?: string): readonly Fields[];
  /** Every process of it that was ever started. */
  pids(): readonly number[];
  entries(id: string, type: string): Promise<readonly Fields[]>;
  /** The whole store as bytes. */
  stored(): Buffer;
}

/** The program of such an agent, to be run with the folder it writes what it was sent to. */
export function writeMiniAgent(dir: string, body: string): string {
  const script = join(dir, "agent.mjs");
  writeFileSync(script, `const hear = (message) => {${body}\n};\n${PRELUDE}`);
  return script;
}

/** The same in a process of its own, which can be killed. */
export function killableMiniBridge(body: string): MiniBridge {
  return miniBridge(body, { killable: true });
}

/** A bridge before the agent whose `hear(message)` has this body; true when it has dealt with the message. */
export function miniBridge(
  body: string,
  options: {
    readonly args?: readonly string[];
    readonly twice?: boolean;
    readonly killable?: boolean;
  } = {},
): MiniBridge {
  const folder = tempDir();
  const dir = folder.path;
  const script = writeMiniAgent(dir, body);
  const store = `sqlite:${join(dir, "h.db")}`;
  const agent = (name: string): readonly string[] => [
    "--agent",
    `${name}='${process.execPath}' '${script}' '${dir}'`,
  ];
  const agents = options.twice === true ? [...agent("one"), ...agent("two")] : agent("one");
  const words = ["acp", "--store", store, ...(options.args ?? []), ...agents];
  const command: Command = {
    ...(options.killable === true
      ? { file: process.execPath, args: [MAIN, ...words] }
      : { file: null, args: words }),
    env: {
      PATH: process.env["PATH"],
      HOME: dir,
      TZ: "UTC",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    },
    cwd: dir,
  };
  const host = new AcpHost(command);
  const linesOf = (name: string): readonly string[] => {
    const path = join(dir, name);
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
  };
  const pids = (): readonly number[] => linesOf("pids").map(Number);
  return {
    host,
    dir,
    command,
    pids,
    received: (method) =>
      linesOf("lines")
        .map((line) => JSON.parse(line) as Fields)
        .filter((message) => method === undefined || message["method"] === method),
    entries: async (id, type) => {
      const { out, status, err } = await runHere(store, ["log", id, "--json"]);
      if (status !== 0) throw new Error(err);
      return jsonLines(out).filter((entry) => entry["type"] === type);
    },
    stored: () =>
      Buffer.concat(
        ["h.db", "h.db-wal"].flatMap((name) =>
          existsSync(join(dir, name)) ? [readFileSync(join(dir, name))] : [],
        ),
      ),
    async [Symbol.asyncDispose](): Promise<void> {
      await host.hangUp();
      for (const pid of pids()) if (runs(pid)) process.kill(pid, "SIGKILL");
      folder[Symbol.dispose]();
    },
  };
}

/** Whether a process is there and no zombie. Its command line is empty for an instant while it execs, so its state decides. */
export function runs(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
