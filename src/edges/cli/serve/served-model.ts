import { Agent } from "#agent/agent";
import { Memory } from "#agent/memory/memory";
import type { ModelGiven } from "#agent/models/model";
import { openModel } from "#agent/models/open-model";
import { withoutModelKeys } from "#agent/models/providers";
import { codingTools } from "#agent/tools/coding-tools";
import { DEFAULT_POLICY } from "#agent/tools/permissions";
import type { Skills } from "#agent/skills/skills";
import type { AgentSource } from "#edges/http/index";
import { LogError } from "#log/errors";
import type { Call } from "#edges/cli/command";

/** Our own loop with the models of `--model`, in every space that is asked for; whoever asks chooses none but these. */
export async function servedModel(call: Call, skills: Skills): Promise<AgentSource | null> {
  const { flags, io } = call;
  const models = flags.list("model");
  const baseUrl = flags.text("base-url");
  const [first] = models;
  if (first === undefined) {
    if (baseUrl !== undefined || flags.has("no-memory"))
      throw new LogError(
        "invalid_request",
        "--base-url and --no-memory are about a model: say which with --model",
      );
    return null;
  }
  const open = (asked: ModelGiven): ReturnType<typeof openModel> => {
    if (typeof asked === "string" && !models.includes(asked))
      throw new LogError(
        "invalid_request",
        `The model ${asked} is not served here; there is ${models.join(", ")}`,
      );
    const isThere = typeof asked === "string" && asked.startsWith("openai-compatible/");
    return openModel(asked, { env: io.env, ...(isThere && baseUrl !== undefined ? { baseUrl } : {}) });
  };
  // What a model lacks is found before anybody is served.
  for (const model of models) await open(model);
  const env = withoutModelKeys(io.env);
  return {
    models,
    open: (holdfast) =>
      new Agent(holdfast, {
        model: first,
        openModel: open,
        tools: (cwd) => (cwd === null ? [] : codingTools({ cwd, env })),
        skills,
        memory: flags.has("no-memory") ? null : new Memory(holdfast),
        permission: DEFAULT_POLICY,
      }),
  };
}
