import type { Conversation } from "#conversation/conversation";
import { LogError } from "#log/errors";
import { checkNumbers } from "#log/with-defaults";
import type { Usage } from "#log/message";
import type { KnownTurn } from "#turn/known-turn";
import type { AgentResult, AgentTurnOptions, ResolvedOptions } from "./agent-options.ts";
import type { LoopTurn } from "./loop/loop-turn.ts";
import type { AgentModel } from "./models/model.ts";
import type { LoopEnd } from "./loop/run-turn.ts";
import { readWaiting } from "./read-waiting.ts";

/** What is known of a turn that was sent under its key before. */
export function knownResult({ result, lastText, run }: KnownTurn): AgentResult {
  const { upstream: _, ...rest } = result;
  return { ...rest, run, text: lastText, model: null, steps: 0, usage: {}, waiting: [] };
}

/** What became of a turn that was carried here. */
export async function resultOf(
  turn: LoopTurn,
  end: LoopEnd,
  conversation: Conversation,
): Promise<AgentResult> {
  const { turn: turnId, prompt, progress } = turn;
  const { model, steps, used } = progress;
  const run = turn.run?.run ?? null;
  const shared = { turn: turnId, prompt, run, model: model.id, steps, usage: used as Usage };
  if (end.outcome !== "waiting") {
    const { class: endingClass, message, resetAtMs } = end.ending;
    const { outcome } = end;
    return { ...shared, outcome, class: endingClass, message, resetAtMs, text: progress.text, waiting: [] };
  }
  const waiting = (await readWaiting(conversation)).filter(({ request }) => end.requests.includes(request));
  const message = "The turn waits for a person's answer";
  return {
    ...shared,
    outcome: "waiting",
    class: null,
    message,
    resetAtMs: null,
    text: progress.text,
    waiting,
  };
}

/** How far a turn may go. */
export function limitsOf(
  models: readonly AgentModel[],
  options: AgentTurnOptions,
  resolved: ResolvedOptions,
): LoopTurn["limits"] {
  const { maxSteps = resolved.maxSteps, maxCostMicros } = options;
  checkNumbers(options, { maxSteps: "count", maxCostMicros: "limit" });
  for (const model of models) checkCostLimit(model, maxCostMicros);
  return { steps: maxSteps, costMicros: maxCostMicros ?? null };
}

export function checkCostLimit(model: AgentModel, maxCostMicros: number | undefined): void {
  if (maxCostMicros !== undefined && model.price === null)
    throw new LogError(
      "invalid_request",
      `The price of ${model.id} is not known, so a maximum of cost cannot be kept; give a maximum of steps, or the model with its price`,
      { model: model.id },
    );
}
