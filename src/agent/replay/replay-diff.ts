import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import type { ComparedBranches } from "#conversation/read-diff";
import { decodeEntry } from "#log/codec";
import { type BranchDiff, diffBranches, type Divergence, firstOtherResult } from "#log/diff/diff-branches";
import type { Entry } from "#log/entry";
import type { ReplayPrompt } from "./replay-prompts.ts";
import type { ReplaySource } from "./replay-source.ts";
import type { ReplayTools } from "./replay-tools.ts";

/** What a replay did otherwise. */
export interface ReplayDiffers {
  /** The first call that differs by name, arguments or order; by the record also the first that gave something else. */
  readonly divergence: Divergence | null;
  /** Two models never word an answer alike, so this alone is no divergence. */
  readonly textDiffers: boolean;
}

/** What a call gave is compared where the record answers it: a tool that runs, or does not run, may give something else. */
export function replayDiffers({ divergence, rows }: BranchDiff, tools: ReplayTools): ReplayDiffers {
  const gave = tools === "recorded" ? firstOtherResult(rows) : null;
  return {
    divergence: divergence?.kind === "call" ? divergence : gave,
    textDiffers: rows.some(({ op, a, b }) => op !== "same" && (a ?? b)?.kind === "text"),
  };
}

/** One prompt: what came of it in the original, and in the entries that its replay wrote. */
export async function diffOfTurn(
  { nodes }: ReplaySource,
  prompt: ReplayPrompt,
  {
    fork,
    after,
    tools,
  }: { readonly fork: Conversation; readonly after: number; readonly tools: ReplayTools },
): Promise<ReplayDiffers> {
  const written: Entry[] = [];
  for await (const stored of fork.log({ after, types: ["message"] })) written.push(decodeEntry(stored));
  const from = Math.max(
    0,
    nodes.findIndex(({ id }) => id === prompt.entry.id),
  ); // seeds may be kept
  const to = nodes.findIndex(({ id }) => id === prompt.end);
  const [a, b] = [nodes.slice(from, to + 1), written].map((side) => ({ nodes: side, facts: [] }));
  const none = { nodes: [], facts: [] };
  return replayDiffers(diffBranches(a ?? none, b ?? none, { msOf: Date.parse }), tools);
}

/** All that was sent, against the same part of the original. */
export async function diffOfReplay(
  holdfast: Holdfast,
  { conversation, prompts, keptTo }: ReplaySource,
  fork: Conversation,
  sent: number,
): Promise<ComparedBranches | null> {
  const at = prompts[sent - 1]?.end ?? keptTo;
  const [diff] = await holdfast.compare({ conversation: conversation.id, at }, [{ conversation: fork.id }]);
  return diff ?? null;
}
