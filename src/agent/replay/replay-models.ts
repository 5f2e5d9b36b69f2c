import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import { checkNumbers } from "#log/with-defaults";
import { cwdOf } from "#log/projections/settings";
import { checkCostLimit } from "#agent/turn-runner";
import { memoryOf } from "#agent/memory/conversation-memory";
import type { AgentModel, ModelInput } from "#agent/models/model";
import { modelOfSettings } from "#agent/models/model-choice";
import { openModel } from "#agent/models/open-model";
import { turnTools } from "#agent/agent-options";
import type { Tool } from "#turn/effects/tool";
import { ModelReplay } from "./model-replay.ts";
import { type ReplayOptions, type ReplayPlan, type ReplayResult, REPLAY_TOOLS } from "./replay-options.ts";
import {
  readReplaySource,
  type ReplaySource,
  type ReplayTarget,
  type SourcePrompt,
} from "./replay-source.ts";

/**
 * Sends the prompts of a run or a branch once more, in order and by the real loop, each model on a fork of its own. The
 * original is not touched. Whatever is wrong with what was asked is told before anything is sent or written.
 */
export async function replay(
  holdfast: Holdfast,
  target: ReplayTarget,
  options: ReplayOptions,
): Promise<readonly ReplayResult[]> {
  return (await prepareReplay(holdfast, target, options)).run();
}

/** A replay of which all is known that can be known before it is begun. */
export interface PreparedReplay {
  readonly plan: ReplayPlan;
  /** The prompts that would be sent, in order. */
  readonly prompts: readonly SourcePrompt[];
  /** The tools that a model would be offered. */
  readonly tools: readonly Tool[];
  run(): Promise<readonly ReplayResult[]>;
}

/** The same without its beginning: nothing is sent or written until it is run. */
export async function prepareReplay(
  holdfast: Holdfast,
  target: ReplayTarget,
  options: ReplayOptions,
): Promise<PreparedReplay> {
  checkOptions(options);
  const source = await readReplaySource(holdfast, target, options);
  const models = await openModels(options, source);
  const cwd = await folderOf(source, options);
  const here = await toolsHere(source, options, cwd);
  const tools = here.map(({ name }) => name);
  const plan = planOf(source, { options, models, tools });
  const run = async (): Promise<readonly ReplayResult[]> => {
    options.onEvent?.({ type: "planned", ...plan });
    const results: ReplayResult[] = [];
    for (const [index, { id }] of models.entries()) {
      if (options.signal?.aborted === true) break;
      const model = options.models[index] ?? id;
      const one = new ModelReplay(holdfast, source, { options, model, modelId: id, cwd, tools });
      results.push(await one.run());
    }
    return results;
  };
  return { plan, prompts: source.prompts, tools: here, run };
}

function checkOptions(options: ReplayOptions): void {
  const { models, tools = "dry-run" } = options;
  if (!REPLAY_TOOLS.includes(tools))
    throw new LogError(
      "invalid_request",
      `tools must be one of ${REPLAY_TOOLS.join(", ")} (got ${JSON.stringify(tools)})`,
    );
  checkNumbers(options, {
    fromMessage: "count",
    maxPrompts: "count",
    maxSteps: "count",
    maxCostMicros: "limit",
  });
  if (!Array.isArray(models)) throw new LogError("invalid_request", "models must be an array of model names");
}

/** Those that were named, else the one that was asked before. */
async function openModels(options: ReplayOptions, source: ReplaySource): Promise<readonly AgentModel[]> {
  const open = options.agent?.openModel ?? ((input: ModelInput) => openModel(input));
  const own = modelOfSettings(await source.conversation.settings({ at: source.end }));
  const models = options.models.length > 0 ? options.models : own === null ? [] : [own];
  if (models.length === 0)
    throw new LogError("invalid_request", "The original has no model that can be used. Set `models`.", {
      model: null,
    });
  const opened: AgentModel[] = [];
  for (const one of models) opened.push(await open(one));
  for (const one of opened) checkCostLimit(one, options.maxCostMicros);
  return opened;
}

/** The folder the forks are worked on in. */
async function folderOf(
  { conversation, keptTo }: ReplaySource,
  { cwd }: ReplayOptions,
): Promise<string | null> {
  if (cwd !== undefined) return cwd;
  const { config } = await conversation.settings({ at: keptTo });
  return cwdOf(config, (await conversation.head()).cwd);
}

/** What the loop would offer; two of one name, or one that no model can be told of, are found here. */
async function toolsHere(
  { conversation }: ReplaySource,
  { agent = {} }: ReplayOptions,
  cwd: string | null,
): Promise<readonly Tool[]> {
  const { tools = [], skills = null, servers = null, memory = null } = agent;
  const here = await turnTools(
    { tools, skills, servers, replaceTool: (tool) => tool },
    { cwd, conversation: conversation.id, memory: await memoryOf({ memory }, conversation, cwd) },
  );
  return [...here.values()];
}

function planOf(
  { conversation, run, end, keptTo, prompts, called, toolNames }: ReplaySource,
  parts: {
    readonly options: ReplayOptions;
    readonly models: readonly AgentModel[];
    readonly tools: readonly string[];
  },
): ReplayPlan {
  const { options, models, tools } = parts;
  const [expected, here] = [new Set([...(toolNames ?? []), ...called]), new Set(tools)];
  return {
    source: { conversation: conversation.id, entry: end, run: run?.run ?? null },
    keptTo,
    models: models.map(({ id }) => id),
    tools: options.tools ?? "dry-run",
    prompts: prompts.length,
    absent: [...expected].filter((name) => !here.has(name)),
    added: toolNames === null ? [] : tools.filter((name) => !expected.has(name)),
    ...(options.maxCostMicros === undefined ? {} : { maxCostMicros: options.maxCostMicros }),
    ...(options.patchSystem === undefined ? {} : { isPatched: true }),
  };
}
