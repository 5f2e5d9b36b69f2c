import type { ContentBlock } from "#log/message";
import type { ContextMessage } from "#log/projections/pairs";
import { type BranchSummarised, summariseBranch } from "#agent/compaction/branch-summary";
import { type Compacted, compactConversation, readContextTokens } from "#agent/compaction/compact";
import type { SummaryOptions } from "#agent/compaction/recorded-summary";
import { compactionBudget, type CompactionLimits, mustCompact } from "#agent/compaction/compaction-budget";
import { messagesTokens } from "#agent/compaction/token-estimate";
import { noteSummary } from "#agent/memory/other-summaries";
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
  const limits = limitsFor(at.options, at.progress.model);
  if (limits === null || limits.window === null || at.progress.compactionFailed) return false;
  // Most requests are short, and need no closer look.
  if (charsOf(messages) / CHARS_PER_TOKEN_MIN + fixedTokens < compactionBudget(limits).full) return false;
  const used = hasSeeds(at)
    ? fixedTokens + messagesTokens(messages)
    : await readContextTokens(at.work.conversation, fixedTokens);
  return mustCompact({ ...limits, used }) && compactNow(at, fixedTokens);
}

/** The same without looking: a provider said that the request was too long. */
export async function compactNow(at: LoopTurn, fixedTokens: number): Promise<boolean> {
  if (limitsFor(at.options, at.progress.model) === null) return false;
  const since = hasSeeds(at) ? { since: at.run?.startSeq ?? 0 } : {};
  const how = { model: at.progress.model, turn: at.turn, fixedTokens, ...since };
  const { state } = await compactHere(at.work, at.options, how);
  if (state !== "compacted") at.progress.compactionFailed = true;
  return state === "compacted";
}

function hasSeeds({ run }: LoopTurn): boolean {
  return run !== null && run.seed !== null;
}

/** Makes the context shorter, as the owner of the conversation. */
export async function compactHere(
  work: AgentWork,
  options: SettledOptions,
  how: {
    readonly model: AgentModel;
    readonly turn?: string;
    readonly fixedTokens: number;
    readonly since?: number;
    readonly focus?: string;
  },
): Promise<Compacted> {
  const { model, ...more } = how;
  const compacted = await compactConversation(work.conversation, {
    ...(limitsFor(options, model) ?? { window: model.window }),
    ...more,
    ...(await summariser(work, options, model)),
  });
  if (compacted.state === "compacted") {
    tell(work, { type: "compacted", entry: compacted.entry, tokensBefore: compacted.tokensBefore });
    await noteSummary(options.memory, work.conversation, compacted.entry);
  }
  return compacted;
}

/** Leaves the branch for another, with a summary of what only it has. */
export async function leaveBranch(
  work: AgentWork,
  options: SettledOptions,
  how: { readonly model: AgentModel; readonly entry: string; readonly focus: string | undefined },
): Promise<BranchSummarised> {
  const { entry: to, focus } = how;
  const asked = await summariser(work, options, how.model);
  return summariseBranch(work.conversation, { to, ...asked, ...(focus === undefined ? {} : { focus }) });
}

/** Who is asked for a summary, and who writes it down. */
async function summariser(
  { owner, cancelled: signal }: AgentWork,
  options: SettledOptions,
  own: AgentModel,
): Promise<SummaryOptions> {
  const { silenceMs, clock, compaction } = options;
  const model = compaction?.model === undefined ? own : await options.openModel(compaction.model);
  return {
    summarise: (request) => askModel(model, request, { signal, silenceMs, clock }),
    model: model.id,
    summaryWindow: model.window,
    owner,
  };
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
      else chars += jsonChars(block);
    }
  return chars;
}

const jsonLengths = new WeakMap<ContentBlock, number>(); // every step asks again for all that was said

function jsonChars(block: ContentBlock): number {
  const known = jsonLengths.get(block);
  if (known !== undefined) return known;
  const { length } = JSON.stringify(block);
  jsonLengths.set(block, length);
  return length;
}
