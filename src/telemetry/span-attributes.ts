import type { Bodies } from "#log/entry";
import type { Usage } from "#log/message";

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
      "gen_ai.request.model": model,
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

export function toolAttributes({ name, call }: Bodies["tool_intent"], conversation: string): Attributes {
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "gen_ai.tool.call.id": call,
    "gen_ai.conversation.id": conversation,
  };
}

/** The conventions count what came from a cache, and what went into one, among the input; the log counts them apart. */
export function usageAttributes(usage: Required<Usage>): Attributes {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costMicros } = usage;
  const input = inputTokens + cacheReadTokens + cacheWriteTokens;
  if (input + outputTokens + costMicros === 0) return {};
  return {
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": outputTokens,
    ...(cacheReadTokens === 0 ? {} : { "gen_ai.usage.cache_read.input_tokens": cacheReadTokens }),
    ...(cacheWriteTokens === 0 ? {} : { "gen_ai.usage.cache_creation.input_tokens": cacheWriteTokens }),
    ...(costMicros === 0 ? {} : { "holdfast.usage.cost_micros": costMicros }),
  };
}

function providerOfModel(model: string): string {
  const [provider = ""] = model.split("/");
  return MODEL_PROVIDERS[provider] ?? (model.includes("/") ? provider : OWN);
}

function providerOfAgent(agent: string): string {
  return AGENT_PROVIDERS[agent] ?? agent;
}
