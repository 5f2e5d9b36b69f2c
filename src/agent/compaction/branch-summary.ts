import { sharedDepth } from "#conversation/branch-pages";
import type { Conversation } from "#conversation/conversation";
import { type NodeAt, readContextWindow } from "#conversation/reading";
import type { Entry } from "#log/entry";
import { LogError } from "#log/errors";
import { type EntryId, parseEntryId } from "#log/ids";
import type { Usage } from "#log/message";
import { fileLists, historyTexts, filesText } from "./summary-request.ts";
import { type SummaryFailed, type SummaryOptions, withSummary } from "./summary-writer.ts";
import { estimateTokens } from "./token-estimate.ts";
import { spaceOf } from "#conversation/on-space";

const NO_FILES = { read: [], changed: [] };

export interface BranchSummaryOptions extends SummaryOptions {
  /** The end of the summarised branch (default: the leaf). */
  readonly from?: string;
  /** The node that is gone on from. */
  readonly to: string;
}

/** What became of it. In all cases but the first the conversation is as it was, its leaf too. */
export type BranchSummaryResult =
  | {
      readonly state: "summarised";
      readonly entry: EntryId;
      /** How many of the oldest messages did not fit into what the model takes at once. */
      readonly leftOut: number;
      readonly usage: Usage | null;
    }
  /** Nothing was said on the branch that the other does not have. */
  | { readonly state: "nothing" }
  | SummaryFailed;

/**
 * Leaves a branch with a summary of what it has and the other has not. Going there and the summary are one entry, so that
 * either both have happened or neither.
 */
export async function summariseBranch(
  conversation: Conversation,
  options: BranchSummaryOptions,
): Promise<BranchSummaryResult> {
  const head = await conversation.head();
  const from = options.from === undefined ? head.leaf : await nodeAt(conversation, options.from);
  const to = await nodeAt(conversation, options.to);
  const { entries, previous } = await branchOnlyEntries(conversation, from, to);
  const texts = historyTexts(entries);
  if (texts.length === 0) return { state: "nothing" };
  const files = fileLists(entries, NO_FILES, options.fileTools);
  let leftOut = 0;
  const place = { conversation, head, key: `branch_summary/${from.id}` };
  const written = await withSummary(place, options, async (writer) => {
    const newest = newestWithin(texts, writer.room - estimateTokens(previous ?? ""));
    leftOut = texts.length - newest.length;
    const pieces = leftOut === 0 ? newest : [`[${leftOut} earlier messages omitted]`, ...newest];
    const focus = options.focus ?? null;
    const summary = await writer.write({ kind: "branch", texts: pieces, previous, focus });
    return {
      type: "branch_summary",
      parentId: to.id,
      fromId: from.id,
      summary: summary + filesText(files),
      ...(options.model === undefined ? {} : { model: options.model }),
      ...(writer.usage === null ? {} : { usage: writer.usage }),
      details: { files: { read: files.read, changed: files.changed }, leftOut },
    };
  });
  if (written.state === "failed") return written;
  return { state: "summarised", entry: written.entry, leftOut, usage: written.usage };
}

/** Returns the visible entries of the context at `from` that `to` does not have, oldest first. */
async function branchOnlyEntries(
  conversation: Conversation,
  from: NodeAt,
  to: NodeAt,
): Promise<{ readonly entries: readonly Entry[]; readonly previous: string | null }> {
  const [space, id] = [spaceOf(conversation), conversation.id];
  const shared = await sharedDepth(
    conversation,
    { conversation: id, end: from },
    { conversation: id, end: to },
  );
  // Nothing from before a reset is told behind it.
  const { settings } = await space.window({ conversation: id, from: to, limit: 0, settings: ["reset"] });
  if ((settings.get("reset")?.place.depth ?? -1) > shared) return { entries: [], previous: null };
  const window = await readContextWindow(space, id, from);
  const branchEntries = window.entries.slice(0, from.depth - shared);
  const { compaction } = window;
  const compacted = compaction !== null && branchEntries.some((entry) => entry.id === compaction.id);
  return {
    entries: branchEntries.filter((entry) => !window.hidden.has(entry.id)).toReversed(),
    previous: compacted ? compaction.summary : null,
  };
}

function newestWithin(texts: readonly string[], room: number): readonly string[] {
  let tokens = 0;
  const first = texts.findLastIndex((text) => {
    tokens += estimateTokens(text);
    return tokens > room;
  });
  return texts.slice(Math.min(first + 1, texts.length - 1));
}

async function nodeAt(conversation: Conversation, entry: string): Promise<NodeAt> {
  const node = await spaceOf(conversation).entry(conversation.id, parseEntryId(entry));
  if (node.place !== null) return { ...node.place, id: node.id };
  throw new LogError(
    "unknown_target",
    `Entry ${entry} is an annotation, such as a label, and not on a branch. Use the id of a message.`,
    { target: entry },
  );
}
