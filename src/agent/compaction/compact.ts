import type { Usage } from "#log/message";
import type { EntryId } from "#log/ids";
import { compactionInput } from "#log/projections/compaction-input";
import type { Window } from "#log/projections/window";
import type { Conversation } from "#conversation/conversation";
import { readContextWindow } from "#conversation/reading";
import type { HeadView } from "#store/requests";
import { chooseCut, type Cut } from "./choose-cut.ts";
import { compactionBudget, type CompactionLimits } from "./compaction-budget.ts";
import { type FileLists, fileLists, storedFileLists } from "./file-lists.ts";
import { historyTexts } from "./history-text.ts";
import { filesText } from "./summary-request.ts";
import {
  type SummaryFailed,
  type SummaryOptions,
  type SummaryPlace,
  withSummary,
} from "./recorded-summary.ts";
import { SummaryRefused, type SummaryWriter } from "./summary-writer.ts";
import { contextTokens, entryTokens, estimateTokens } from "./token-estimate.ts";

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

/** The entries that a summary takes the place of, oldest first. What was hidden from models stays hidden from this one. */
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
  if (parts.length === 0) throw new SummaryRefused("empty", "Nothing of it can be told in words");
  const summary = parts.join("\n\n# The turn that is going on\n\n");
  const replaced = entries.reduce((tokens, entry) => tokens + entryTokens(entry), 0);
  if (estimateTokens(summary) >= replaced + estimateTokens(previous ?? ""))
    throw new SummaryRefused("longer", "The summary is no shorter than what it would take the place of");
  return summary;
}

/** Without the lists at its end, which the new one has, too. */
function previousSummary({ compaction }: Window): string | null {
  if (compaction === null) return null;
  const lists = filesText(storedFileLists(compaction.details));
  const { summary } = compaction;
  return lists !== "" && summary.endsWith(lists) ? summary.slice(0, -lists.length) : summary;
}

function windowAt({ space, id }: Conversation, { leaf }: HeadView): Promise<Window> {
  return readContextWindow(space, id, leaf);
}

async function tokensOf(
  { space, id }: Conversation,
  head: HeadView,
  window: Window,
  fixedTokens: number,
): Promise<number> {
  const [hide] = await space.read({ conversation: id, limit: 1, newestFirst: true, types: ["hide"] });
  return contextTokens(window, { lastHideSeq: hide?.seq ?? 0, ownNodes: ownNodesOf(head), fixedTokens });
}
