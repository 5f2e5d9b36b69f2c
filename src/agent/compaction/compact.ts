import type { Usage } from "#log/message";
import type { EntryId } from "#log/ids";
import { compactionInput } from "#log/projections/compaction-input";
import type { Window } from "#log/projections/window";
import type { Conversation } from "#conversation/conversation";
import { readContextWindow } from "#conversation/reading";
import type { HeadView } from "#store/requests";
import { type FileLists, fileLists, storedFileLists, historyTexts, filesText } from "./summary-request.ts";
import {
  type SummaryFailed,
  type SummaryOptions,
  type SummaryPlace,
  withSummary,
  SummaryRefused,
  type SummaryWriter,
} from "./summary-writer.ts";
import { contextTokens, entryTokens, estimateTokens } from "./token-estimate.ts";
import type { Entry } from "#log/entry";
import { modelContent } from "#log/projections/context";
import { spaceOf } from "#conversation/on-space";

export interface CompactOptions extends SummaryOptions, CompactionLimits {
  /** What every request has besides the messages (instructions, tools), in tokens. */
  readonly fixedTokens?: number;
  /** The seq of a run's start that has seeds: only what it said itself may be cut, for nothing else gets shorter by it. */
  readonly since?: number;
}

/** What became of a compaction. In all cases but the first the conversation is as it was. */
export type CompactionResult =
  | {
      readonly state: "compacted";
      readonly entry: EntryId;
      readonly firstKept: EntryId;
      readonly tokensBefore: number;
      readonly usage: Usage | null;
      readonly files: FileLists;
    }
  | { readonly state: "nothing" | "too_little" }
  | SummaryFailed;

/** How many tokens the next request of a conversation has, about. */
export async function readContextTokens(
  conversation: Conversation,
  fixedTokens: number = 0,
): Promise<number> {
  const head = await conversation.head();
  return tokensOf(conversation, head, await windowAt(conversation, head), fixedTokens);
}

/**
 * Makes the context of a conversation shorter: a model summarises what is older than the newest `keep` tokens, and one entry
 * says so. A summary that fails or is cut off changes nothing but what it cost.
 */
export async function compactConversation(
  conversation: Conversation,
  options: CompactOptions,
): Promise<CompactionResult> {
  const head = await conversation.head();
  const window = await windowAt(conversation, head);
  const cut = chooseCut(cuttable(window, head, options.since), compactionBudget(options).keep);
  if (cut.state !== "cut") return cut;
  const tokensBefore = await tokensOf(conversation, head, window, options.fixedTokens ?? 0);
  const files = fileLists(
    inputOf(window, cut),
    storedFileLists(window.compaction?.details),
    options.fileTools,
  );
  const place: SummaryPlace = { conversation, head, key: `compaction/${head.leaf.id}` };
  const written = await withSummary(place, options, async (writer) => ({
    type: "compaction",
    parentId: head.leaf.id,
    summary: (await writeSummary(writer, window, cut, options.focus ?? null)) + filesText(files),
    firstKeptEntryId: cut.firstKept,
    tokensBefore,
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(writer.usage === null ? {} : { usage: writer.usage }),
    details: { files: { read: files.read, changed: files.changed } },
  }));
  if (written.state === "failed") return written;
  const { entry, usage } = written;
  return { state: "compacted", entry, firstKept: cut.firstKept, tokensBefore, usage, files };
}

/** The part of the window that may be cut. */
function cuttable(window: Window, head: HeadView, since: number | undefined): Window {
  if (since === undefined) return window;
  const own = window.entries.slice(0, ownNodesOf(head));
  const end = own.findIndex(({ seq }) => seq <= since);
  return { ...window, entries: end === -1 ? own : own.slice(0, end) };
}

/** How many nodes of a branch, from its end, are the conversation's own and not of the one it was forked from. */
function ownNodesOf({ leaf, origin }: HeadView): number {
  return origin === null ? Number.POSITIVE_INFINITY : Math.max(0, leaf.depth - origin.depth);
}

type FoundCut = Extract<Cut, { state: "cut" }>;

/** Returns the entries that a summary replaces, oldest first, without hidden ones. */
function inputOf(window: Window, { firstKept }: FoundCut): readonly Window["entries"][number][] {
  return compactionInput(window, firstKept).entries.filter((entry) => !window.hidden.has(entry.id));
}

/** A turn that is cut in two is summarised by itself, behind what came before it. */
async function writeSummary(
  writer: SummaryWriter,
  window: Window,
  cut: FoundCut,
  focus: string | null,
): Promise<string> {
  const entries = inputOf(window, cut);
  const turnAt = entries.findIndex((entry) => entry.id === cut.turnFrom);
  const [history, turn] = turnAt === -1 ? [entries, []] : [entries.slice(0, turnAt), entries.slice(turnAt)];
  const [before, turnTexts] = [historyTexts(history), historyTexts(turn)];
  const previous = previousSummary(window);
  const parts: string[] = [];
  if (before.length > 0) parts.push(await writer.write({ kind: "history", texts: before, previous, focus }));
  else if (previous !== null) parts.push(previous);
  if (turnTexts.length > 0)
    parts.push(await writer.write({ kind: "turn", texts: turnTexts, previous: null, focus }));
  if (parts.length === 0) throw new SummaryRefused("empty", "The messages contain no text to summarize");
  const summary = parts.join("\n\n# Current turn\n\n");
  const replaced = entries.reduce((tokens, entry) => tokens + entryTokens(entry), 0);
  if (estimateTokens(summary) >= replaced + estimateTokens(previous ?? ""))
    throw new SummaryRefused("longer", "The summary is not shorter than the messages it would replace");
  return summary;
}

/** Without the lists at its end, which the new one has, too. */
function previousSummary({ compaction }: Window): string | null {
  if (compaction === null) return null;
  const lists = filesText(storedFileLists(compaction.details));
  const { summary } = compaction;
  return lists !== "" && summary.endsWith(lists) ? summary.slice(0, -lists.length) : summary;
}

function windowAt(conversation: Conversation, { leaf }: HeadView): Promise<Window> {
  return readContextWindow(spaceOf(conversation), conversation.id, leaf);
}

async function tokensOf(
  conversation: Conversation,
  head: HeadView,
  window: Window,
  fixedTokens: number,
): Promise<number> {
  const hide = await conversation.latest(["hide"]);
  return contextTokens(window, { lastHideSeq: hide?.seq ?? 0, ownNodes: ownNodesOf(head), fixedTokens });
}

const SUMMARISED_TOKENS_MIN = 500; // a summary with all its sections would not be shorter

/** Where a compaction cuts, or why it does not. */
type Cut =
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
const RESERVE_TOKENS = 16_384; // for the next answer and its thinking
const KEEP_TOKENS = 20_000; // what stays word for word: the work at hand

export interface CompactionLimits {
  /** How many tokens the model takes; null when that is not known. */
  readonly window: number | null;
  /** How many of them stay free for the answer. */
  readonly reserve?: number;
  /** How many of the newest stay word for word. */
  readonly keep?: number;
}

/** The same as numbers that fit into each other: a small window is halved rather than always full. */
export function compactionBudget(limits: CompactionLimits): {
  readonly full: number;
  readonly keep: number;
} {
  const { window, reserve = RESERVE_TOKENS, keep = KEEP_TOKENS } = limits;
  if (window === null) return { full: Number.POSITIVE_INFINITY, keep };
  const full = window - Math.min(reserve, Math.floor(window / 2));
  return { full, keep: Math.min(keep, Math.floor(full / 2)) };
}

/** Whether the next request, of `used` tokens, would leave too little room for its answer. */
export function mustCompact({ used, ...limits }: CompactionLimits & { readonly used: number }): boolean {
  return used > compactionBudget(limits).full;
}
