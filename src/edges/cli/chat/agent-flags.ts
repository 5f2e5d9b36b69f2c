import type { OptionTexts } from "#edges/cli/options";
import { Agent } from "#agent/agent";
import type { AgentTurnOptions } from "#agent/agent-options";
import { checkCostLimit } from "#agent/turn-runner";
import { Memory } from "#agent/memory/memory";
import { openModel } from "#agent/models/open-model";
import { withoutModelKeys } from "#agent/models/providers";
import type { AgentModel, ModelInput } from "#agent/models/model";
import { modelOfSettings } from "#agent/models/model-choice";
import { codingTools } from "#agent/tools/coding-tools";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import { cwdOf } from "#log/projections/settings";
import type { Call } from "#edges/cli/command";
import { AlwaysRules, rulesIn } from "./permission-question.ts";
import type { McpServers } from "#agent/mcp/mcp-servers";
import { MCP_OPTION, mcpServersOf } from "./mcp-file.ts";
import { ownSkills } from "./own-skills.ts";
import { type Fields, fieldsOf, textIn, isSameJson } from "#log/json/json-fields";

/** The options of every command that runs a model. */
export const AGENT_OPTIONS: OptionTexts = {
  "--model PROVIDER/NAME":
    "the model from here on: anthropic/…, openai/…, google/…, openai-compatible/… with --base-url, or sim, which needs no key",
  "--base-url URL":
    "the URL of the model, such as http://127.0.0.1:8080/v1; the conversation keeps it, unless it holds a password or a query",
  ...MCP_OPTION,
  "--allow-all, --yes": "allow every tool call without asking; rules that deny still apply",
  "--max-steps N": "stop a turn after N answers of the model",
  "--max-cost USD": "stop a turn at this cost, such as 0.50",
  "--no-memory": "don't send or save memory",
};

/** A model that can be asked, and how others are opened. */
export interface OpenedModel {
  readonly model: AgentModel;
  readonly urls: BaseUrls;
  /** Whether it is told what is remembered. */
  readonly remembers: boolean;
  /** Of `--mcp`. */
  readonly servers: McpServers | null;
  /** What commands of its tools are given. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly open: (given: ModelInput) => Promise<AgentModel>;
}

/** The model a command is to ask: told, else the conversation's own; null where there is none. */
async function openChosenModel(call: Call, conversation: Conversation | null): Promise<OpenedModel | null> {
  const told = call.flags.text("model");
  const settings = conversation === null ? null : await conversation.settings();
  const name = told ?? (settings === null ? null : modelOfSettings(settings));
  const { maxCostMicros } = turnFlags(call);
  if (name === null) {
    for (const flag of ["base-url", "mcp", "max-steps", "max-cost"])
      if (call.flags.text(flag) !== undefined)
        throw new LogError("invalid_request", `--${flag} is about a model: say which with --model`);
    return null;
  }
  const urls = new BaseUrls(settings?.config ?? {});
  const baseUrl = call.flags.text("base-url");
  if (baseUrl !== undefined) urls.set(name, baseUrl);
  const open: OpenedModel["open"] = (given) => {
    const url = urls.of(given);
    return openModel(given, { env: call.io.env, ...(url === undefined ? {} : { baseUrl: url }) });
  };
  const model = await open(name);
  checkCostLimit(model, maxCostMicros);
  const remembers = !call.flags.has("no-memory");
  const servers = await mcpServersOf(call);
  return { model, urls, remembers, open, servers, env: withoutModelKeys(call.io.env) };
}

/** An agent for a conversation, with the tools of its folder. */
export async function openAgent(
  holdfast: Holdfast,
  conversation: Conversation,
  { model, open, env, remembers, servers }: OpenedModel,
): Promise<{ readonly agent: Agent; readonly cwd: string; readonly always: AlwaysRules }> {
  const { config } = await conversation.settings();
  const cwd = cwdOf(config, (await conversation.head()).cwd) ?? process.cwd();
  const always = new AlwaysRules(rulesIn(config));
  const agent = new Agent(holdfast, {
    model: model.id,
    tools: (folder) => codingTools({ cwd: folder ?? cwd, env }),
    skills: ownSkills(env),
    memory: remembers ? new Memory(holdfast) : null,
    servers,
    permission: (asked) => always.decide(asked),
    whenAsked: "refuse",
    openModel: open,
  });
  return { agent, cwd, always };
}

const USD = /^\d+(?:\.\d+)?$/;

/** What was said of one turn. */
export function turnFlags(call: Call): Pick<AgentTurnOptions, "maxSteps" | "maxCostMicros" | "model"> {
  const steps = call.flags.count("max-steps");
  if (steps === 0) throw new LogError("invalid_request", "--max-steps takes 1 or more");
  const cost = call.flags.text("max-cost");
  if (cost !== undefined && !(USD.test(cost) && Number(cost) > 0))
    throw new LogError("invalid_request", `--max-cost takes dollars, such as 0.50, not "${cost}"`);
  const model = call.flags.text("model");
  return {
    ...(model === undefined ? {} : { model }),
    ...(steps === undefined ? {} : { maxSteps: steps }),
    ...(cost === undefined ? {} : { maxCostMicros: Math.round(Number(cost) * 1_000_000) }),
  };
}

/** The model that answers in a conversation. `command`: the command line, to which the error adds a model. */
export async function chatModel(
  call: Call,
  conversation: Conversation | null,
  command: string,
): Promise<OpenedModel> {
  const opened = await openChosenModel(call, conversation);
  if (opened !== null) return opened;
  const agent = (await conversation?.chain())?.at(-1)?.agent ?? null;
  throw missingModel(command, conversation, agent);
}

/** `command`: what was asked for, to which a model is added. */
export function missingModel(
  command: string,
  conversation: Conversation | null,
  agent: string | null = null,
): LogError {
  const who = agent === null ? "has no model" : `was run by the agent ${agent}, and has no model`;
  const what = conversation === null ? "No model is named" : `Conversation ${conversation.id} ${who}`;
  return new LogError(
    "invalid_request",
    `${what}. Name the model that answers: ${command} --model PROVIDER/NAME (for example anthropic/claude-sonnet-5-5; sim needs no key)`,
    { ...(conversation === null ? {} : { conversation: conversation.id }), agent },
  );
}

/** The member of a conversation's config that says where the models of a provider are served. */
const MEMBER = "baseUrls";

/** Where models are served, by provider: the URL is that of one service, and a model of another provider is not asked there. */
export class BaseUrls {
  readonly #urls = new Map<string, string>();

  constructor(config: Fields) {
    for (const [provider, stored] of Object.entries(fieldsOf(config[MEMBER]))) {
      const url = textIn(stored);
      if (url !== null) this.#urls.set(provider, url);
    }
  }

  of(model: ModelInput): string | undefined {
    return typeof model === "string" ? this.#urls.get(providerOf(model)) : undefined;
  }

  set(model: string, url: string): void {
    this.#urls.set(providerOf(model), url);
  }

  forget(model: string): void {
    this.#urls.delete(providerOf(model));
  }

  /** The config with what may be kept of it. */
  in(config: Fields): Fields {
    const kept = [...this.#urls].filter(([, url]) => isKept(url));
    if (kept.length === 0 && config[MEMBER] === undefined) return config;
    return { ...config, [MEMBER]: { ...fieldsOf(config[MEMBER]), ...Object.fromEntries(kept) } };
  }
}

function providerOf(model: string): string {
  return model.split("/")[0] ?? model;
}

/** A log is read by others: what may be a secret is not written into it. */
function isKept(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password, search } = new URL(url);
  return `${username}${password}${search}` === "";
}

/** Writes a change of a conversation's config, if it is one. */
export async function changeConfig(
  agent: Agent,
  conversation: Conversation,
  change: (config: Fields) => Fields,
): Promise<void> {
  const { config } = await conversation.settings();
  if (isSameJson(config, change(config))) return;
  await agent.note(conversation, async () => {
    const now = (await conversation.settings()).config;
    return [{ type: "config_change", config: change(now) }];
  });
}
