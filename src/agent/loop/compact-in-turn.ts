import type { ContextMessage } from "#log/projections/pairs";
import { type Compacted, compactConversation, readContextTokens } from "#agent/compaction/compact";
import { compactionBudget, type CompactionLimits, mustCompact } from "#agent/compaction/compaction-budget";
import { askModel } from "#agent/models/ask-model";
import type { AgentModel } from "#agent/models/model";
import type { SettledOptions } from "#agent/agent-options";
import { type AgentWork, type LoopTurn, tell } from "./loop-turn.ts";

const CHARS_PER_TOKEN_MIN = 1.5; // so dense is no text that people or programs write much of

/** Summarises what is older where the next request would be too long; whether it did. A failure is not tried again in this turn. */
export async function compactIfDue(
  at: LoopTurn,
  messages: readonly ContextMessage[],
  fixedTokens: number,
): Promise<boolean> {
  const limits = limitsFor(at.options, at.model);
  if (limits === null || limits.window === null || at.progress.compactionFailed) return false;
  // Most requests are short, and need no closer look.
  if (charsOf(messages) / CHARS_PER_TOKEN_MIN + fixedTokens < compactionBudget(limits).full) return false;
  const used = await readContextTokens(at.work.conversation, fixedTokens);
  return mustCompact({ ...limits, used }) && compactNow(at, fixedTokens);
}

/** The same without looking: a provider said that the request was too long. */
export async function compactNow(at: LoopTurn, fixedTokens: number): Promise<boolean> {
  if (limitsFor(at.options, at.model) === null) return false;
  const how = { model: at.model, turn: at.turn, fixedTokens };
  const { state } = await compactHere(at.work, at.options, how);
  if (state !== "compacted") at.progress.compactionFailed = true;
  return state === "compacted";
}

/** Makes the context shorter, as the owner of the conversation. */
export async function compactHere(
  work: AgentWork,
  options: SettledOptions,
  how: {
    readonly model: AgentModel;
    readonly turn?: string;
    readonly fixedTokens: number;
    readonly focus?: string;
  },
): Promise<Compacted> {
  const { conversation, owner, cancelled: signal } = work;
  const { silenceMs, clock, compaction } = options;
  const { model: asked, ...more } = how;
  const model = compaction?.model === undefined ? asked : await options.openModel(compaction.model);
  const onEvent = (): void => undefined; // a summary is shown when it is whole
  const compacted = await compactConversation(conversation, {
    ...(limitsFor(options, asked) ?? { window: asked.window }),
    ...more,
    summarise: (request) => askModel(model, request, { signal, onEvent, silenceMs, clock }),
    model: model.id,
    summaryWindow: model.window,
    owner,
  });
  if (compacted.state === "compacted")
    tell(work, { type: "compacted", entry: compacted.entry, tokensBefore: compacted.tokensBefore });
  return compacted;
}

function limitsFor({ compaction }: SettledOptions, { window }: AgentModel): CompactionLimits | null {
  if (compaction === null) return null;
  const { reserveTokens: reserve, keepTokens: keep } = compaction;
  return {
    window,
    ...(reserve === undefined ? {} : { reserve }),
    ...(keep === undefined ? {} : { keep }),
  };
}

function charsOf(messages: readonly ContextMessage[]): number {
  let chars = 0;
  for (const { content } of messages)
    for (const block of content) {
      if (block.type === "text") chars += block.text.length;
      else if (block.type === "thinking") chars += block.thinking.length;
      else chars += JSON.stringify(block).length;
    }
  return chars;
}
