/** The bridge over real agents, one home for all of them, and a store that outlives it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openHoldfast } from "#index";
import { jsonLines, type Ran, runCli } from "../edges/cli/cli-run.ts";
import { type AcpHost, startHost } from "./acp-host.ts";
import { type AgentHome, agentHome, WIRES } from "./agent-home.ts";
import { PLAIN_HOST, type Talk, talk } from "./agent-rig.ts";
import { fakeModel, type FakeModel } from "./fake-model.ts";
import type { Policy } from "./host-answers.ts";
import { type AgentName, agentsFolder, type CommandLine, commandOf } from "./install.ts";
import { at, listAt, textAt } from "./json.ts";

const RECORDED_MS = 20_000;
const MAIN = join(import.meta.dirname, "..", "..", "src", "edges", "cli", "main.ts");

export const AGENTS: readonly AgentName[] = ["claude", "codex", "opencode", "gemini"];

export interface BridgeOptions {
  /** Behind the bridge, the first being the one that is asked; claude and codex unless given. */
  readonly agents?: readonly [AgentName, ...AgentName[]];
  /** The folder of an older adapter, by agent (default: the newest pinned version). */
  readonly aliases?: Readonly<Partial<Record<AgentName, string>>>;
  /** More arguments of the bridge. */
  readonly args?: readonly string[];
  /** Added to the environment of everything; what is undefined there is taken out of it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

interface Opening {
  readonly policy?: Policy;
  readonly cwd?: string;
}

interface Link {
  readonly id: string;
  readonly agent: string;
  readonly reason: string;
}

export interface BridgeRig extends AsyncDisposable {
  readonly home: AgentHome;
  readonly models: Readonly<Record<AgentName, FakeModel>>;
  /** The model of the first agent. */
  readonly model: FakeModel;
  /** Every host there was, in order; none of their lines may name an upstream session. */
  readonly hosts: readonly AcpHost[];
  /** A new bridge on the same store, without a conversation. */
  start(policy?: Policy): Promise<AcpHost>;
  open(opening?: Opening): Promise<Talk>;
  /** A new bridge on the same store, with the conversation loaded. */
  reload(sessionId: string, opening?: Opening): Promise<Talk>;
  /** The agent itself, in the same home, without the bridge. */
  direct(agent: AgentName): Promise<AcpHost>;
  /** Waits until words that an agent streamed, or a tool that it began, are in the log. */
  recorded(sessionId: string, words: string, type?: "update" | "tool_intent"): Promise<void>;
  /** What a model would be told of the conversation, as JSON text: `holdfast context`. */
  context(sessionId: string): Promise<string>;
  log(sessionId: string): Promise<readonly unknown[]>;
  /** A command on the same store. */
  command(...words: readonly string[]): Promise<Ran>;
  /** What became of its tool calls: `holdfast effects`. */
  effects(sessionId: string): Promise<readonly unknown[]>;
  /** The upstream sessions that carried it, oldest first. */
  chain(sessionId: string): Promise<readonly Link[]>;
  /** The upstream ids that stood anywhere in what a host was sent. */
  leaks(): Promise<readonly string[]>;
  /** The files Claude keeps its sessions in, whatever their project. */
  transcripts(): readonly string[];
  /** The lines of a file in the project. */
  linesOf(file: string): readonly string[];
}

export async function bridgeRig(options: BridgeOptions = {}): Promise<BridgeRig> {
  const { agents = ["claude", "codex"], aliases = {}, args = [], env = {} } = options;
  const folder = agentsFolder();
  const startOf = (name: AgentName): CommandLine => commandOf(name, folder, aliases[name]);
  const models = await modelsOfAll();
  const home = agentHome(Object.fromEntries(agents.map((name) => [name, models[name].url])));
  const store = `sqlite:${join(home.path, "log.db")}`;
  const command: CommandLine = [
    ...([process.execPath, MAIN, "acp", "--store", store, ...args] as const),
    ...agents.flatMap((name) => ["--agent", `${name}=${quoted(startOf(name))}`]),
  ];
  const hosts: AcpHost[] = [];
  const others: AcpHost[] = [];
  const run = async (line: CommandLine, list: AcpHost[], policy: Policy = "allow"): Promise<AcpHost> => {
    const host = startHost({ command: line, env: { ...home.env, ...env }, cwd: home.project, policy });
    list.push(host);
    await host.ask("initialize", PLAIN_HOST);
    return host;
  };
  const told = async (...words: readonly string[]): Promise<readonly unknown[]> => {
    const { out, err, status } = await runCli(store, [...words, "--json"]);
    if (status !== 0) throw new Error(err);
    return jsonLines(out);
  };
  const rig: BridgeRig = {
    home,
    models,
    model: models[agents[0]],
    hosts,
    start: (policy) => run(command, hosts, policy),
    open: async ({ policy, cwd = home.project } = {}) => {
      const host = await rig.start(policy);
      const made = await host.ask("session/new", { cwd, mcpServers: [] });
      if (made.error !== undefined) throw new Error(`session/new: ${JSON.stringify(made.error)}`);
      return talk(host, textAt(made.result, "sessionId"));
    },
    reload: async (sessionId, { policy, cwd = home.project } = {}) => {
      home.age();
      const host = await rig.start(policy);
      const answer = await host.ask("session/load", { sessionId, cwd, mcpServers: [] });
      if (answer.error !== undefined) throw new Error(`session/load: ${JSON.stringify(answer.error)}`);
      return talk(host, sessionId);
    },
    direct: (agent) => run(startOf(agent), others),
    recorded: async (sessionId, words, type = "update") => {
      await using holdfast = await openHoldfast({ store, readOnly: true });
      const conversation = await holdfast.conversation(sessionId);
      const signal = AbortSignal.timeout(RECORDED_MS);
      for await (const entry of conversation.tail({ signal }))
        if (entry.type === type && JSON.stringify(entry).includes(words)) return;
      throw new Error(`Not recorded: ${words}`);
    },
    context: async (sessionId) => JSON.stringify(await told("context", sessionId)),
    log: (sessionId) => told("log", sessionId),
    command: (...words) => runCli(store, words),
    effects: async (sessionId) => listAt((await told("effects", sessionId))[0], "effects"),
    chain: async (sessionId) => {
      const [chain] = await told("chain", sessionId);
      return listAt(chain, "links").map((link) => ({
        id: textAt(link, "id"),
        agent: textAt(link, "agent"),
        reason: textAt(link, "reason"),
      }));
    },
    leaks: async () => {
      const upstream = new Set<string>();
      for (const conversation of await told("ls"))
        for (const { id } of await rig.chain(textAt(conversation, "conversation"))) upstream.add(id);
      for (const model of Object.values(models))
        for (const { session = "" } of model.requests({ side: true })) upstream.add(session);
      upstream.delete("");
      if (upstream.size === 0) throw new Error("There was no upstream session to look for");
      const wire = hosts.flatMap(({ lines }) => lines.map(({ raw }) => raw)).join("\n");
      return [...upstream].filter((id) => wire.includes(id));
    },
    transcripts: () => filesIn(join(home.path, ".claude", "projects"), ".jsonl"),
    linesOf: (file) => {
      const path = join(home.project, file);
      return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
    },
    [Symbol.asyncDispose]: async () => {
      for (const host of [...hosts, ...others]) await host[Symbol.asyncDispose]();
      for (const model of Object.values(models)) await model[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
  return rig;
}

async function modelsOfAll(): Promise<Readonly<Record<AgentName, FakeModel>>> {
  return {
    claude: await fakeModel(WIRES.claude),
    codex: await fakeModel(WIRES.codex),
    opencode: await fakeModel(WIRES.opencode),
    gemini: await fakeModel(WIRES.gemini),
  };
}

function quoted(command: CommandLine): string {
  return command.map((word) => `'${word}'`).join(" ");
}

/** The files below a folder whose names end so; none when it is not there. */
export function filesIn(folder: string, ending: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file));
}

/** What the bridge had to say beside the agent, in order, each once. */
export function eventsIn(updates: readonly unknown[]): readonly string[] {
  return updates
    .filter((update) => at(update, "sessionUpdate") === "session_info_update")
    .map((update) => textAt(update, "_meta", "holdfast", "event"))
    .filter(Boolean);
}

/** The agent's own process: the bridge starts no other. */
export function agentProcess({ host }: Talk): number {
  const agent = host.running().find(({ parent }) => parent === host.pid);
  if (agent === undefined) throw new Error("No agent is running");
  return agent.pid;
}
