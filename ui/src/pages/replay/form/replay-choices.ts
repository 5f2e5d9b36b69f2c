import type { Api } from "#edges/http/client/index";
import type { InputOf } from "#edges/http/client/client";
import type { ReplayOffer } from "#edges/http/client/views";

export const TOOL_MODES = ["dry-run", "recorded", "live"] as const;
export type ToolMode = (typeof TOOL_MODES)[number];

/** What was chosen, as the address has it. */
export interface ReplayChoices {
  readonly models: readonly string[];
  readonly tools: ToolMode;
  /** In dollars and as it was typed; empty: no limit. */
  readonly cost: string;
  readonly turns: string;
}

export function choicesIn(query: URLSearchParams, offer: Pick<ReplayOffer, "models">): ReplayChoices {
  const named = query.get("models")?.split(",");
  const tools = TOOL_MODES.find((mode) => mode === query.get("tools")) ?? "dry-run";
  return {
    models:
      named === undefined ? offer.models.slice(0, 1) : offer.models.filter((model) => named.includes(model)),
    tools,
    cost: query.get("cost") ?? "",
    turns: query.get("turns") ?? "",
  };
}

/** The models that were chosen, as an address has them. */
export function modelsText(models: readonly string[]): string {
  return models.length === 0 ? "-" : models.join(",");
}

/** Which tools would act in the world, and have to be agreed to one by one. */
export function toolsToAgree({ tools }: Pick<ReplayOffer, "tools">, mode: ToolMode): readonly string[] {
  return mode === "live" ? tools.flatMap(({ name, hasEffect }) => (hasEffect ? [name] : [])) : [];
}

const MICROS = 1_000_000;

/** Microdollars; null: no limit. Undefined: it is no amount. */
export function microsOf(dollars: string): number | null | undefined {
  if (dollars.trim() === "") return null;
  const micros = Math.round(Number(dollars) * MICROS);
  return Number.isSafeInteger(micros) && micros > 0 ? micros : undefined;
}

export function turnsOf(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const turns = Number(text);
  return Number.isSafeInteger(turns) && turns > 0 ? turns : undefined;
}

/** Why it cannot be begun as it was chosen; null: it can. */
export function refusalOf(
  { models, tools, cost, turns }: ReplayChoices,
  offer: ReplayOffer,
  agreed: ReadonlySet<string>,
): string | null {
  if (models.length === 0) return "Choose at least one model.";
  if (microsOf(cost) === undefined) return "The cost must be an amount in dollars above zero, or empty.";
  if (turnsOf(turns) === undefined) return "The number of turns must be 1 or more, or empty.";
  const missing = toolsToAgree(offer, tools).filter((name) => !agreed.has(name));
  return missing.length === 0 ? null : `Confirm each tool that would run again: ${missing.join(", ")}.`;
}

export interface ReplayAsk {
  readonly offer: ReplayOffer;
  readonly choices: ReplayChoices;
  /** The entry from which on prompts are sent again; null: all are. */
  readonly from: string | null;
  readonly system: string;
}

/** What is asked of the server; of what was chosen nothing may be refused. */
export function replayInput({ offer, choices, from, system }: ReplayAsk): InputOf<Api["startReplay"]> {
  const { conversation, entry, run } = offer.source;
  const [maxCostMicros, maxPrompts] = [microsOf(choices.cost), turnsOf(choices.turns)];
  return {
    ...(run === null ? { conversation, at: entry } : { run, conversation }),
    models: choices.models,
    tools: choices.tools,
    ...(from === null ? {} : { from }),
    ...(choices.tools === "live" ? { confirm: true } : {}),
    ...(system.trim() === "" ? {} : { system }),
    ...(maxPrompts == null ? {} : { maxPrompts }),
    ...(maxCostMicros == null ? {} : { maxCostMicros }),
  };
}

/** How many prompts would be sent, by each model. */
export function sentCount(
  { promptCount, first }: Pick<ReplayOffer, "promptCount" | "first">,
  turns: string,
): number {
  return Math.min(promptCount - first + 1, turnsOf(turns) ?? Number.POSITIVE_INFINITY);
}
