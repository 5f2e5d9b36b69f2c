/** The bridge between a host and scripted agents, each in a folder of its own, over a store that outlives it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "../../support/temp-dir.ts";
import { runHere } from "../cli/cli-here.ts";
import { jsonLines, MAIN } from "../cli/cli-run.ts";
import { AgentFolder } from "../../support/scripted-agent/agent-folder.ts";
import { AcpHost, type Command } from "./host.ts";
import type { Like } from "../../support/scripted-agent/flavours.ts";
import { nativeOf } from "../../support/scripted-agent/native.ts";
import { type Fields, fieldsOf, textOf } from "../../support/scripted-agent/wire.ts";
import { programFile } from "../../support/programs.ts";

const AGENT = programFile(join(import.meta.dirname, "../../support/scripted-agent/scripted-agent.ts"));

export interface BridgeOptions {
  readonly like?: Like;
  /** What the agent can do, instead of what its like can. */
  readonly caps?: string;
  /** Its version, of a time before message ids. */
  readonly release?: string;
  /** Its tools ask for permission. */
  readonly ask?: boolean;
  /** More agents by name, the one of `like` being the first, under its own name. */
  readonly others?: readonly Like[];
  /** More arguments of the bridge. */
  readonly args?: readonly string[];
  readonly clientCapabilities?: Fields;
  /** Over JSONL instead of SQLite. */
  readonly jsonl?: boolean;
  /** Its clock can be put forward. */
  readonly jumps?: boolean;
  /** In a process of its own, which can be killed. */
  readonly killable?: boolean;
}

/** The environment of every process here: nothing of the person who runs the tests. */
function cleanEnv(home: string): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME: home, TZ: "UTC", NODE_COMPILE_CACHE };
}

function jumpingClock(signal: string): NodeJS.ProcessEnv {
  return { NODE_OPTIONS: `--import ${new URL("clock-jump.ts", import.meta.url).href}`, CLOCK_JUMP: signal };
}

function agentArgs(folder: AgentFolder, options: BridgeOptions & { readonly like: Like }): readonly string[] {
  const caps = options.caps === undefined ? [] : ["--caps", options.caps];
  const release = options.release === undefined ? [] : ["--release", options.release];
  return [
    AGENT,
    folder.path,
    "--like",
    options.like,
    ...caps,
    ...release,
    ...(options.ask === true ? ["--ask"] : []),
  ];
}

export class Bridge implements AsyncDisposable {
  readonly host: AcpHost;
  readonly agent: AgentFolder;
  /** All of its agents, by name. */
  readonly agents: ReadonlyMap<string, AgentFolder>;
  readonly store: string;
  /** The folder of everything, which is also the host's working directory. */
  readonly dir: string;
  /** The answer to the first greeting. */
  introduced: Fields = {};
  readonly #folder: Disposable;
  readonly #command: Command;
  readonly #words: { readonly own: readonly string[]; readonly agents: readonly string[] };
  /** More hosts, each with a bridge of its own over the same store. */
  readonly #others: AcpHost[] = [];

  constructor(options: BridgeOptions) {
    const { like = "plain", others = [], args = [] } = options;
    const folder = tempDir();
    this.#folder = folder;
    this.dir = folder.path;
    this.store =
      options.jsonl === true ? `jsonl:${join(this.dir, "logs")}` : `sqlite:${join(this.dir, "h.db")}`;
    const folderOf = (name: Like): AgentFolder =>
      new AgentFolder(join(this.dir, `agent-${name}`), nativeOf(name, this.dir));
    this.agents = new Map([like, ...others].map((name) => [name, folderOf(name)]));
    this.agent = this.agents.get(like) ?? folderOf(like);
    this.#words = {
      own: ["acp", "--store", this.store, ...args],
      agents: this.#agentOptions(options, like),
    };
    const words = [...this.#words.own, ...this.#words.agents];
    this.#command = {
      ...(options.killable === true || options.jumps === true
        ? { file: process.execPath, args: [MAIN, ...words] }
        : { file: null, args: words }),
      env: { ...cleanEnv(this.dir), ...(options.jumps === true ? jumpingClock(this.#jump) : {}) },
      cwd: this.dir,
    };
    this.host = new AcpHost(this.#command);
  }

  /** Another window: a host of its own, whose bridge has more arguments, over the same store and agents. */
  async another(...args: readonly string[]): Promise<AcpHost> {
    const { own, agents } = this.#words;
    const words = [MAIN, ...own, ...args, ...agents];
    const host = new AcpHost({ ...this.#command, file: process.execPath, args: words });
    this.#others.push(host);
    await host.initialize();
    return host;
  }

  get #jump(): string {
    return join(this.dir, "jump");
  }

  /** Puts the bridge's clock forward. */
  jump(aheadMs: number): void {
    writeFileSync(this.#jump, String(aheadMs));
  }

  #agentOptions(options: BridgeOptions, like: Like): readonly string[] {
    const command = (name: Like): readonly string[] => {
      const folder = this.agents.get(name) ?? this.agent;
      return [process.execPath, ...agentArgs(folder, { ...options, like: name })];
    };
    if (options.others === undefined) return ["--", ...command(like)];
    return [like, ...options.others].flatMap((name) => [
      "--agent",
      `${name}=${command(name)
        .map((word) => (/^[\w./:=,-]+$/.test(word) ? word : `'${word}'`))
        .join(" ")}`,
    ]);
  }

  /** The entries of a conversation's log. */
  async log(id: string): Promise<readonly Fields[]> {
    const { out, status, err } = await runHere(this.store, ["log", id, "--json"]);
    if (status !== 0) throw new Error(err);
    return jsonLines(out);
  }

  /** What the conversation knows of its tool calls: `holdfast effects`. */
  async effects(id: string): Promise<readonly Fields[]> {
    const { out, status, err } = await runHere(this.store, ["effects", id, "--json"]);
    if (status !== 0) throw new Error(err);
    return (jsonLines(out)[0]?.["effects"] ?? []) as readonly Fields[];
  }

  async entries(id: string, type: string): Promise<readonly Fields[]> {
    return (await this.log(id)).filter((entry) => entry["type"] === type);
  }

  /** The upstream sessions it has held, oldest first. */
  async chain(
    id: string,
    space: string = "default",
  ): Promise<readonly { readonly id: string; readonly agent: string; readonly reason: string }[]> {
    const [told] = jsonLines((await runHere(this.store, ["chain", id, "--space", space, "--json"])).out);
    return (told?.["links"] ?? []) as readonly { id: string; agent: string; reason: string }[];
  }

  /** What the model would be sent, as `role: words`. */
  async context(id: string): Promise<readonly string[]> {
    const [told] = jsonLines((await runHere(this.store, ["context", id, "--json"])).out);
    return ((told?.["messages"] ?? []) as readonly Fields[]).map((message) => {
      const blocks = message["content"] as readonly Fields[];
      return `${textOf(message["role"])}: ${blocks.map((block) => textOf(block["text"])).join("")}`;
    });
  }

  /** How often any upstream id occurs in anything the host ever received. */
  leaks(): readonly string[] {
    const bytes = this.host.bytes();
    const ids = new Set([...this.agents.values()].flatMap((agent) => agent.everyId()));
    return [...ids].filter((id) => bytes.includes(id));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const host of [this.host, ...this.#others]) await host.hangUp();
    for (const agent of this.agents.values()) agent.end();
    this.#folder[Symbol.dispose]();
  }
}

/** A bridge in a process of its own, which can be killed. */
export function openKillable(options: BridgeOptions = {}): Promise<Bridge> {
  return openBridge({ ...options, killable: true });
}

/** A bridge that has been greeted. */
export async function openBridge(options: BridgeOptions = {}): Promise<Bridge> {
  const bridge = new Bridge(options);
  bridge.introduced = await bridge.host.initialize(options.clientCapabilities);
  return bridge;
}

/** The agent without the bridge, to see that the two halves of these tests understand each other. */
export async function openAgent(
  options: BridgeOptions = {},
): Promise<AsyncDisposable & { readonly host: AcpHost; readonly agent: AgentFolder; readonly dir: string }> {
  const folder = tempDir();
  const { like = "plain" } = options;
  const agent = new AgentFolder(join(folder.path, "agent"), nativeOf(like, folder.path));
  const args = agentArgs(agent, { ...options, like });
  const host = new AcpHost({ file: process.execPath, args, env: cleanEnv(folder.path), cwd: folder.path });
  await host.initialize();
  return {
    host,
    agent,
    dir: folder.path,
    async [Symbol.asyncDispose](): Promise<void> {
      await host.kill();
      folder[Symbol.dispose]();
    },
  };
}

/** What ours says of a failure. */
export function failureOf(error: { readonly data?: unknown } | null): Fields {
  return fieldsOf(fieldsOf(error?.data)["holdfast"]);
}

/** What ours says of a result. */
export function metaOf(result: Fields | null): Fields {
  return fieldsOf(fieldsOf(result?.["_meta"])["holdfast"]);
}

/** What ours says of an event to a program, in the order it was told; people are told beside it. */
export function holdfastEvents(updates: readonly Fields[]): readonly Fields[] {
  return updates
    .filter((update) => update["sessionUpdate"] === "session_info_update")
    .map((update) => fieldsOf(fieldsOf(update["_meta"])["holdfast"]))
    .filter((ours) => ours["event"] !== undefined);
}
