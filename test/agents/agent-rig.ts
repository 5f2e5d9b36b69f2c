/** One agent with its fake model and its home, and a conversation with it that reads like one. */
import { type AcpHost, spoken, startHost } from "./acp-host.ts";
import { type AgentHome, agentHome, WIRES } from "./agent-home.ts";
import { fakeModel, type FakeModel } from "./fake-model.ts";
import type { Policy } from "./host-answers.ts";
import { type AgentName, agentsFolder, commandOf } from "./install.ts";
import { at, textAt } from "./json.ts";

/** What a prompt came to. */
interface Turn {
  readonly result: unknown;
  readonly stopReason: string;
  /** Undefined when the prompt was answered with a result. */
  readonly error?: { readonly code: unknown; readonly data: unknown };
  readonly said: string;
  readonly updates: readonly unknown[];
}

export interface Talk {
  readonly host: AcpHost;
  readonly sessionId: string;
  prompt(text: string): Promise<Turn>;
  /** Sends the prompt and returns its request's id at once. */
  begin(text: string): number;
}

export interface AgentRig extends AsyncDisposable {
  readonly model: FakeModel;
  readonly home: AgentHome;
  /** A new process that has been initialized. */
  start(policy?: Policy): Promise<AcpHost>;
  /** A new session in a new process. */
  open(policy?: Policy): Promise<Talk>;
  /** A session that was there before, in a new process. */
  reopen(sessionId: string, method: "session/load" | "session/resume"): Promise<Talk>;
}

export const PLAIN_HOST: object = {
  protocolVersion: 1,
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
};

/** `more` is added to the agent's environment; what is undefined there is taken out of it. */
export async function agentRig(
  agent: AgentName,
  more: Readonly<Record<string, string | undefined>> = {},
): Promise<AgentRig> {
  const command = commandOf(agent, agentsFolder());
  const model = await fakeModel(WIRES[agent]);
  const home = agentHome({ [agent]: model.url });
  const hosts: AcpHost[] = [];
  const rig: AgentRig = {
    model,
    home,
    start: async (policy = "allow") => {
      const host = startHost({ command, env: { ...home.env, ...more }, cwd: home.project, policy });
      hosts.push(host);
      await host.ask("initialize", PLAIN_HOST);
      return host;
    },
    open: async (policy) => {
      const host = await rig.start(policy);
      const made = await host.ask("session/new", { cwd: home.project, mcpServers: [] });
      return talk(host, textAt(made.result, "sessionId"));
    },
    reopen: async (sessionId, method) => {
      home.age();
      const host = await rig.start();
      const answer = await host.ask(method, { sessionId, cwd: home.project, mcpServers: [] });
      if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
      return talk(host, sessionId);
    },
    [Symbol.asyncDispose]: async () => {
      for (const host of hosts) await host[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
  return rig;
}

/** A session of a host, an agent's or a bridge's. */
export function talk(host: AcpHost, sessionId: string): Talk {
  const begin = (text: string): number =>
    host.send("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  const prompt = async (text: string): Promise<Turn> => {
    const since = host.lines.length;
    const answer = await host.answered(begin(text));
    const updates = host.updates(since);
    const { error } = answer;
    return {
      result: answer.result,
      stopReason: textAt(answer.result, "stopReason"),
      said: spoken(updates),
      updates,
      ...(error === undefined ? {} : { error: { code: at(error, "code"), data: at(error, "data") } }),
    };
  };
  return { host, sessionId, begin, prompt };
}
