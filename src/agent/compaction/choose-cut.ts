import type { Entry } from "#log/entry";
import type { EntryId } from "#log/ids";
import { modelContent } from "#log/projections/context";
import type { Window } from "#log/projections/window";
import { entryTokens } from "./token-estimate.ts";

const SUMMARISED_TOKENS_MIN = 500; // a summary with all its sections would not be shorter

/** Where a compaction cuts, or why it does not. */
export type Cut =
  | {
      readonly state: "cut";
      /** The oldest entry that stays word for word. */
      readonly firstKept: EntryId;
      /** The prompt whose turn is cut in two; null when the cut lies between turns. */
      readonly turnFrom: EntryId | null;
    }
  /** Everything is recent, or no place to cut lies before what is. */
  | { readonly state: "nothing" }
  /** What would be summarised is hardly longer than a summary. */
  | { readonly state: "too_little" };

/**
 * The cut that keeps as much of the newest entries as the budget takes, and at least the newest place to cut. It lies at
 * something that a person or a model said, never between a tool call and its result.
 */
export function chooseCut(window: Window, keepTokens: number): Cut {
  const { entries, hidden } = window;
  const index = cutIndex(window, keepTokens);
  if (index === null) return { state: "nothing" };
  const before = entries.slice(index + 1).filter((entry) => !hidden.has(entry.id) && entryTokens(entry) > 0);
  const tokens = before.reduce((sum, entry) => sum + entryTokens(entry), 0);
  if (before.length === 0) return { state: "nothing" };
  if (tokens < SUMMARISED_TOKENS_MIN) return { state: "too_little" };
  const first = entries[index];
  if (first === undefined) return { state: "nothing" };
  const prompt = isPrompt(first) ? undefined : before.find(isPrompt);
  // A turn whose prompt an earlier summary took in is cut from its first entry that is left.
  const turnFrom = isPrompt(first) ? null : (prompt ?? before.at(-1))?.id;
  return { state: "cut", firstKept: first.id, turnFrom: turnFrom ?? null };
}

function cutIndex({ entries, hidden }: Window, keepTokens: number): number | null {
  const openReply = openReplyIndex(entries);
  const awaited = new Set<string>();
  let tokens = 0;
  let best: number | null = null;
  for (const [index, entry] of entries.entries()) {
    if (!hidden.has(entry.id)) tokens += entryTokens(entry);
    if (best !== null && tokens > keepTokens) break;
    for (const call of resultOf(entry)) awaited.add(call);
    for (const call of callsOf(entry)) awaited.delete(call);
    const whole = awaited.size === 0 && (openReply === null || index >= openReply);
    if (whole && isCutPlace(entry)) best = index;
  }
  return best;
}

/** The newest reply, while calls of it wait for their results: what is cut lies before it. */
function openReplyIndex(entries: readonly Entry[]): number | null {
  const answered = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    for (const call of resultOf(entry)) answered.add(call);
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    return callsOf(entry).every((call) => answered.has(call)) ? null : index;
  }
  return null;
}

function isCutPlace(entry: Entry): boolean {
  if (entry.type === "message") return entry.message.role !== "toolResult";
  return modelContent(entry) !== null;
}

function isPrompt(entry: Entry): boolean {
  return entry.type === "message" ? entry.message.role === "user" : modelContent(entry) !== null;
}

function resultOf(entry: Entry): readonly string[] {
  return entry.type === "message" && entry.message.role === "toolResult" ? [entry.message.toolCallId] : [];
}

function callsOf(entry: Entry): readonly string[] {
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  return entry.message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}
