/** The bridge over two real agents, one home for both, and a store that outlives it. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openHoldfast } from "../../src/index.ts";
import { type AcpHost, startHost } from "./acp-host.ts";
import { type AgentHome, agentHome, WIRES } from "./agent-home.ts";
import { PLAIN_HOST, type Talk, talk } from "./agent-rig.ts";
import { fakeModel, type FakeModel } from "./fake-model.ts";
import { type AgentName, agentsFolder, type CommandLine, commandOf } from "./install.ts";
import { textAt } from "./json.ts";

const RECORDED_MS = 20_000;
const MAIN = join(import.meta.dirname, "..", "..", "src", "edges", "cli", "main.ts");

export interface BridgeRig extends AsyncDisposable {
  readonly home: AgentHome;
  readonly models: { readonly claude: FakeModel; readonly codex: FakeModel };
  /** Every host there was, in order; none of their lines may name an upstream session. */
  readonly hosts: readonly AcpHost[];
  open(): Promise<Talk>;
  /** A new bridge on the same store, with the conversation loaded. */
  reload(sessionId: string): Promise<Talk>;
  /** The agent itself, in the same home, without the bridge. */
  direct(agent: AgentName): Promise<AcpHost>;
  /** Waits until words that an agent streamed are in the log. */
  recorded(sessionId: string, words: string): Promise<void>;
  /** The files Claude keeps its sessions in, whatever their project. */
  transcripts(): readonly string[];
}

export async function bridgeRig(): Promise<BridgeRig> {
  const folder = agentsFolder();
  const models = { claude: await fakeModel(WIRES.claude), codex: await fakeModel(WIRES.codex) };
  const home = agentHome({ claude: models.claude.url, codex: models.codex.url });
  const store = `sqlite:${join(home.path, "log.db")}`;
  const agents = (["claude", "codex"] as const).flatMap((name) => [
    "--agent",
    `${name}=${commandOf(name, folder)
      .map((word) => `'${word}'`)
      .join(" ")}`,
  ]);
  const hosts: AcpHost[] = [];
  const others: AcpHost[] = [];
  const start = async (command: CommandLine, list: AcpHost[]): Promise<AcpHost> => {
    const host = startHost({ command, env: home.env, cwd: home.project });
    list.push(host);
    await host.ask("initialize", PLAIN_HOST);
    return host;
  };
  const bridge = (): Promise<AcpHost> =>
    start([process.execPath, MAIN, "acp", "--store", store, ...agents], hosts);
  return {
    home,
    models,
    hosts,
    open: async () => {
      const host = await bridge();
      const made = await host.ask("session/new", { cwd: home.project, mcpServers: [] });
      return talk(host, textAt(made.result, "sessionId"));
    },
    reload: async (sessionId) => {
      const host = await bridge();
      const answer = await host.ask("session/load", { sessionId, cwd: home.project, mcpServers: [] });
      if (answer.error !== undefined) throw new Error(`session/load: ${JSON.stringify(answer.error)}`);
      return talk(host, sessionId);
    },
    direct: (agent) => start(commandOf(agent, folder), others),
    recorded: async (sessionId, words) => {
      await using hold = await openHoldfast({ store, readOnly: true });
      const conversation = await hold.conversation(sessionId);
      const signal = AbortSignal.timeout(RECORDED_MS);
      for await (const entry of conversation.tail({ signal }))
        if (entry.type === "update" && entry.payload.includes(words)) return;
      throw new Error(`Not recorded: ${words}`);
    },
    transcripts: () => transcriptsIn(join(home.path, ".claude", "projects")),
    [Symbol.asyncDispose]: async () => {
      for (const host of [...hosts, ...others]) await host[Symbol.asyncDispose]();
      for (const model of Object.values(models)) await model[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
}

function transcriptsIn(projects: string): readonly string[] {
  return readdirSync(projects, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".jsonl"))
    .map((file) => join(projects, file));
}
