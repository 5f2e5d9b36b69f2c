import type { ServedReplays } from "#edges/http/replays/running-replays";
import { Agent } from "#agent/agent";
import { Memory } from "#agent/memory/memory";
import type { ModelGiven } from "#agent/models/model";
import { openModel } from "#agent/models/open-model";
import { withoutModelKeys } from "#agent/models/providers";
import type { ReplayAgent } from "#agent/replay/replay-options";
import { codingTools } from "#agent/tools/coding-tools";
import { DEFAULT_POLICY } from "#agent/tools/permissions";
import type { Skills } from "#agent/skills/skills";
import type { Holdfast } from "#conversation/holdfast";
import type { AgentSource } from "#edges/http/index";
import { LogError } from "#log/errors";
import type { Tool } from "#turn/effects/tool";
import type { Call } from "#edges/cli/command";
import { SIMULATED } from "#edges/cli/known-agents";
import { speedOf } from "./simulated-agent.ts";
import { atPace, SIM_MODELS, simulatedEmail } from "./simulated-replays.ts";

/** Our own loop with the models of `--model`, in every space that is asked for; whoever asks chooses none but these. */
export async function servedModel(call: Call, skills: Skills): Promise<AgentSource | null> {
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
  const options = loopOptions(call, skills, async (asked) => atPace(await open(asked), speed));
  const agent = (holdfast: Holdfast): ReplayAgent => {
    const loop = options(holdfast);
    const tools = (cwd: string | null): readonly Tool[] => [...folderTools(call, cwd), simulatedEmail];
    return { ...loop, tools };
  };
  return { models: SIM_MODELS, agent };
}

type OpenModel = (asked: ModelGiven) => ReturnType<typeof openModel>;

function modelsOf({ flags, io }: Call, models: readonly string[]): OpenModel {
  const baseUrl = flags.text("base-url");
  return (asked) => {
    if (typeof asked === "string" && !models.includes(asked))
      throw new LogError(
        "invalid_request",
        `The model ${asked} is not served here; there is ${models.join(", ")}`,
      );
    const isThere = typeof asked === "string" && asked.startsWith("openai-compatible/");
    return openModel(asked, { env: io.env, ...(isThere && baseUrl !== undefined ? { baseUrl } : {}) });
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
