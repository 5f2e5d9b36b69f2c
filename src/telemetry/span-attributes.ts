import type { Bodies } from "#log/entry";
import type { UsageSum } from "#log/add-usage";
import type { AssistantMessage } from "#log/message";

export type Attributes = { readonly [name: string]: string | number | boolean | readonly string[] };

// Names of the GenAI semantic conventions; what they have no name for begins with `holdfast.`.

/** Providers by the name in front of a model's slash, as the conventions call them; any other goes by its own name. */
const MODEL_PROVIDERS: { readonly [name: string]: string } = { google: "gcp.gemini" };

/** Who stands behind an agent's program. */
const AGENT_PROVIDERS: { readonly [agent: string]: string } = {
  claude: "anthropic",
  codex: "openai",
  gemini: "gcp.gemini",
};

const OWN = "holdfast";

export function turnAttributes(at: {
  readonly space: string;
  readonly conversation: string;
  readonly turn: string;
  readonly agent: string | null;
}): Attributes {
  const { agent } = at;
  return {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": agent === null ? OWN : providerOfAgent(agent),
    "gen_ai.conversation.id": at.conversation,
    ...(agent === null ? {} : { "gen_ai.agent.name": agent }),
    "holdfast.space": at.space,
    "holdfast.turn.id": at.turn,
  };
}

export function attemptAttributes(
  { model, upstream, fidelity }: Bodies["attempt"],
  at: { readonly conversation: string; readonly agent: string | null },
): Attributes {
  const { agent } = at;
  const about = { "gen_ai.conversation.id": at.conversation };
  if (model !== undefined)
    return {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": providerOfModel(model),
      "gen_ai.request.model": modelName(model),
      ...about,
    };
  return {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": agent === null ? OWN : providerOfAgent(agent),
    ...(agent === null ? {} : { "gen_ai.agent.name": agent }),
    ...about,
    ...(upstream === undefined ? {} : { "holdfast.upstream.id": upstream }),
    ...(fidelity === undefined ? {} : { "holdfast.fidelity": fidelity }),
  };
}

/** What a model is called by its provider: its name without that of the provider in front of it. */
export function modelName(model: string): string {
  return model.slice(model.indexOf("/") + 1);
}

/** Reasons of answers as the conventions call them, by those of our own loop and of agents; any other goes by its own name. */
const FINISH_REASONS: { readonly [reason: string]: string } = {
  endTurn: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  toolUse: "tool_call",
  tool_use: "tool_call",
  maxTokens: "length",
  max_tokens: "length",
  refusal: "content_filter",
  failed: "error",
};

/** `asked`: the model that was asked, where it was not an agent's. */
export function answerAttributes(
  { model, stopReason }: Pick<AssistantMessage, "model" | "stopReason">,
  requestedModel: string | null,
): Attributes {
  return {
    ...(model === undefined
      ? {}
      : { "gen_ai.response.model": model === requestedModel ? modelName(model) : model }),
    ...(stopReason === undefined
      ? {}
      : { "gen_ai.response.finish_reasons": [FINISH_REASONS[stopReason] ?? stopReason] }),
  };
}

export function toolAttributes(
  { name, call }: Pick<Bodies["tool_intent"], "name" | "call">,
  conversation: string,
): Attributes {
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "gen_ai.tool.call.id": call,
    "gen_ai.conversation.id": conversation,
  };
}

/** The conventions count what came from a cache, and what went into one, among the input; the log counts them apart. */
export function usageAttributes(usage: UsageSum): Attributes {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costMicros } = usage;
  const input = inputTokens + cacheReadTokens + cacheWriteTokens;
  if (input + outputTokens + (costMicros ?? 0) === 0) return {};
  return {
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": outputTokens,
    ...(cacheReadTokens === 0 ? {} : { "gen_ai.usage.cache_read.input_tokens": cacheReadTokens }),
    ...(cacheWriteTokens === 0 ? {} : { "gen_ai.usage.cache_creation.input_tokens": cacheWriteTokens }),
    ...(costMicros === 0 || costMicros === null ? {} : { "holdfast.usage.cost_micros": costMicros }),
  };
}

function providerOfModel(model: string): string {
  const [provider = ""] = model.split("/");
  return MODEL_PROVIDERS[provider] ?? (model.includes("/") ? provider : OWN);
}

function providerOfAgent(agent: string): string {
  return AGENT_PROVIDERS[agent] ?? agent;
}
