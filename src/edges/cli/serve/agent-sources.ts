import { resolve } from "node:path";
import { UnattendedAgent } from "#edges/acp/index";
import type { AgentSource, AgentSources } from "#edges/http/turns/agent-source";
import type { Skills } from "#agent/skills/skills";
import { LogError } from "#log/errors";
import { type Call, packageVersion } from "#edges/cli/command";
import { SIMULATED, agentsOf } from "./known-agents.ts";
import { SIM_MODELS, atPace, simulatedEmail, simulatedSource, speedOf } from "./simulated-agent.ts";
import type { ServedReplays } from "#edges/http/replays/running-replays";
import { Agent } from "#agent/agent";
import { Memory } from "#agent/memory/memory";
import type { ModelInput } from "#agent/models/model";
import { openModel } from "#agent/models/open-model";
import { withoutModelKeys } from "#agent/models/providers";
import type { ReplayAgent } from "#agent/replay/replay-options";
import { codingTools } from "#agent/tools/coding-tools";
import { DEFAULT_POLICY } from "#agent/tools/permissions";
import type { Holdfast } from "#conversation/holdfast";
import type { Tool } from "#turn/effects/tool";

const LOOP = "holdfast"; // as editors call it

/** The agents that the command line names; without one no turn is run. */
export async function servedAgents(call: Call, skills: Skills): Promise<AgentSources> {
  const { flags } = call;
  const loop = await servedModel(call, skills);
  const agents = flags.list("agent");
  const simulated = simulatedSource(speedOf(call));
  const sources = [
    ...(loop === null ? [] : [[LOOP, loop] as const]),
    ...acpAgents(call),
    ...(agents.includes(SIMULATED) ? [[SIMULATED, simulated] as const] : []),
  ];
  const names = sources.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new LogError("invalid_request", `Two agents have the name ${twice}. Give each a different name.`);
  return Object.fromEntries(sources);
}

/** Agents that speak ACP, each with a process in every space that asks for it. */
function acpAgents({ flags, args, io }: Call): readonly (readonly [string, AgentSource])[] {
  const agents = flags.list("agent").filter((text) => text !== SIMULATED);
  if (agents.length === 0 && args.length === 0) return [];
  const folder = flags.text("cwd");
  if (folder === undefined)
    throw new LogError("invalid_request", "An agent works in a folder: say in which with --cwd");
  const cwd = resolve(folder);
  const version = packageVersion();
  return agentsOf({ agents, command: args, accounts: flags.list("account") }, io.env).map((spec) => {
    const here = { ...spec, command: { ...spec.command, cwd } };
    return [spec.name, { open: (holdfast) => new UnattendedAgent(holdfast, here, { cwd, version }) }];
  });
}

/** Our own loop with the models of `--model`, in every space that is asked for; whoever asks chooses none but these. */
async function servedModel(call: Call, skills: Skills): Promise<AgentSource | null> {
  const { flags } = call;
  const models = flags.list("model");
  const [first] = models;
  if (first === undefined) {
    if (flags.text("base-url") !== undefined || flags.has("no-memory"))
      throw new LogError(
        "invalid_request",
        "--base-url and --no-memory are about a model: say which with --model",
      );
    return null;
  }
  const open = modelsOf(call, models);
  // What a model lacks is found before anybody is served.
  for (const model of models) await open(model);
  const options = loopOptions(call, skills, open);
  return { models, open: (holdfast) => new Agent(holdfast, { model: first, ...options(holdfast) }) };
}

/** The same models for replays, with the loop's own tools, whoever ran the original; simulated ones beside the simulated agent. */
export function servedReplays(call: Call, skills: Skills): ServedReplays | null {
  const models = call.flags.list("model");
  if (models.length > 0) return { models, agent: loopOptions(call, skills, modelsOf(call, models)) };
  return call.flags.list("agent").includes(SIMULATED) ? simulatedReplays(call, skills) : null;
}

/** Without a key, at the pace of the simulated agent and with its tool beside the loop's own. */
function simulatedReplays(call: Call, skills: Skills): ServedReplays {
  const [speed, open] = [speedOf(call), modelsOf(call, SIM_MODELS)];
  const options = loopOptions(call, skills, async (request) => atPace(await open(request), speed));
  const agent = (holdfast: Holdfast): ReplayAgent => {
    const loop = options(holdfast);
    const tools = (cwd: string | null): readonly Tool[] => [...folderTools(call, cwd), simulatedEmail];
    return { ...loop, tools };
  };
  return { models: SIM_MODELS, agent };
}

type OpenModel = (request: ModelInput) => ReturnType<typeof openModel>;

function modelsOf({ flags, io }: Call, models: readonly string[]): OpenModel {
  const baseUrl = flags.text("base-url");
  return (request) => {
    if (typeof request === "string" && !models.includes(request))
      throw new LogError(
        "invalid_request",
        `The model ${request} is not served here; there is ${models.join(", ")}`,
      );
    const isThere = typeof request === "string" && request.startsWith("openai-compatible/");
    return openModel(request, { env: io.env, ...(isThere && baseUrl !== undefined ? { baseUrl } : {}) });
  };
}

function folderTools({ io }: Call, cwd: string | null): readonly Tool[] {
  return cwd === null ? [] : codingTools({ cwd, env: withoutModelKeys(io.env) });
}

function loopOptions(call: Call, skills: Skills, open: OpenModel): (holdfast: Holdfast) => ReplayAgent {
  const { flags } = call;
  return (holdfast) => ({
    openModel: open,
    tools: (cwd) => folderTools(call, cwd),
    skills,
    memory: flags.has("no-memory") ? null : new Memory(holdfast),
    permission: DEFAULT_POLICY,
  });
}
