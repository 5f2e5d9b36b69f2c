import type { ContentBlock } from "#log/message";
import type { ContextMessage } from "#log/projections/pairs";
import { type BranchSummaryResult, summariseBranch } from "#agent/compaction/branch-summary";
import {
  type CompactionResult,
  compactConversation,
  readContextTokens,
  compactionBudget,
  type CompactionLimits,
  mustCompact,
} from "#agent/compaction/compact";
import type { SummaryOptions } from "#agent/compaction/summary-writer";
import { messagesTokens } from "#agent/compaction/token-estimate";
import { noteSummary } from "#agent/memory/other-summaries";
import { askModel } from "#agent/models/ask-model";
import type { AgentModel } from "#agent/models/model";
import type { ResolvedOptions } from "#agent/agent-options";
import { type AgentWork, type LoopTurn, tell } from "./loop-turn.ts";

const CHARS_PER_TOKEN_MIN = 1.5; // so dense is no text that people or programs write much of

/** Compacts the conversation if the next request would be too long, and returns whether it did. A turn retries no failed compaction. */
export async function compactIfDue(
  turn: LoopTurn,
  messages: readonly ContextMessage[],
  fixedTokens: number,
): Promise<boolean> {
  const limits = limitsFor(turn.options, turn.progress.model);
  if (limits === null || limits.window === null || turn.progress.compactionFailed) return false;
  // Most requests are short, and need no closer look.
  if (charsOf(messages) / CHARS_PER_TOKEN_MIN + fixedTokens < compactionBudget(limits).full) return false;
  const used = hasSeeds(turn)
    ? fixedTokens + messagesTokens(messages)
    : await readContextTokens(turn.work.conversation, fixedTokens);
  return mustCompact({ ...limits, used }) && compactNow(turn, fixedTokens);
}

/** The same without looking: a provider said that the request was too long. */
export async function compactNow(turn: LoopTurn, fixedTokens: number): Promise<boolean> {
  if (limitsFor(turn.options, turn.progress.model) === null) return false;
  const since = hasSeeds(turn) ? { since: turn.run?.startSeq ?? 0 } : {};
  const options = { model: turn.progress.model, turn: turn.turn, fixedTokens, ...since };
  const { state } = await compactHere(turn.work, turn.options, options);
  if (state !== "compacted") turn.progress.compactionFailed = true;
  return state === "compacted";
}

function hasSeeds({ run }: LoopTurn): boolean {
  return run !== null && run.seed !== null;
}

/** Makes the context shorter, as the owner of the conversation. */
export async function compactHere(
  work: AgentWork,
  options: ResolvedOptions,
  request: {
    readonly model: AgentModel;
    readonly turn?: string;
    readonly fixedTokens: number;
    readonly since?: number;
    readonly focus?: string;
  },
): Promise<CompactionResult> {
  const { model, ...more } = request;
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
  options: ResolvedOptions,
  request: { readonly model: AgentModel; readonly entry: string; readonly focus: string | undefined },
): Promise<BranchSummaryResult> {
  const { entry: to, focus } = request;
  const summary = await summariser(work, options, request.model);
  return summariseBranch(work.conversation, { to, ...summary, ...(focus === undefined ? {} : { focus }) });
}

/** Who is asked for a summary, and who writes it down. */
async function summariser(
  { owner, cancelled: signal }: AgentWork,
  options: ResolvedOptions,
  conversationModel: AgentModel,
): Promise<SummaryOptions> {
  const { silenceMs, clock, compaction } = options;
  const model =
    compaction?.model === undefined ? conversationModel : await options.openModel(compaction.model);
  return {
    summarise: (request) => askModel(model, request, { signal, silenceMs, clock }),
    model: model.id,
    summaryWindow: model.window,
    owner,
  };
}

function limitsFor({ compaction }: ResolvedOptions, { window }: AgentModel): CompactionLimits | null {
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
  const charCount = jsonLengths.get(block);
  if (charCount !== undefined) return charCount;
  const { length } = JSON.stringify(block);
  jsonLengths.set(block, length);
  return length;
}
