import type { ContentBlock, Entry, EntryOf, Message } from "#log/entry";
import type { EntryId } from "#log/ids";
import { membersOf } from "#log/json/json-text";
import type { Issue } from "./issue.ts";
import { type ContextMessage, makePairsWhole, type PairItem } from "./pairs.ts";
import type { Settings } from "./settings.ts";
import type { Window } from "./window.ts";

/** What the model is to be sent, and with which settings. */
export interface Context extends Settings {
  readonly leaf: EntryId;
  readonly messages: readonly ContextMessage[];
  /** The compaction whose summary opens the messages. */
  readonly compaction: EntryId | null;
  readonly issues: readonly Issue[];
}

const SUMMARY_INTRO = "Summary of the conversation so far:\n\n";
const MESSAGE_HIDDEN = "This message was hidden.";
const BRANCH_INTRO = "Summary of a branch that was left:\n\n";

/** Projects a window into the messages of the next request. */
export function contextOf(window: Window, settings: Settings, leaf: EntryId): Context {
  const items: PairItem[] = [];
  if (window.compaction !== null) items.push(said(SUMMARY_INTRO + window.compaction.summary, null));
  for (const entry of window.entries.toReversed()) {
    const item = itemOf(entry, window.hidden.has(entry.id));
    if (item !== null) items.push(item);
  }
  if (items[0]?.message.role === "assistant" && startsHidden(window))
    items.unshift(said(MESSAGE_HIDDEN, null));
  const { messages, issues } = makePairsWhole(items);
  const missing: readonly Issue[] = window.boundaryMissing
    ? [
        {
          kind: "boundary_missing",
          entry: window.compaction?.id ?? null,
          message: "The first kept entry of the compaction is not on the path; nothing was cut off",
        },
      ]
    : [];
  return {
    ...settings,
    leaf,
    messages,
    compaction: window.compaction?.id ?? null,
    issues: [...missing, ...issues],
  };
}

/** Providers refuse a conversation that begins with a reply, so what it replied to keeps its place. */
function startsHidden(window: Window): boolean {
  const first = window.entries.findLast((entry) => entry.type === "message");
  return first?.type === "message" && first.message.role === "user" && window.hidden.has(first.id);
}

/** Whether a context is made of entries like this one at all; hidden ones still hold a place. */
export function isInContext(entry: Entry): boolean {
  if (entry.type === "custom") return entry.inContext === true;
  return entry.type === "message" || entry.type === "branch_summary";
}

function itemOf(entry: Entry, hidden: boolean): PairItem | null {
  if (entry.type === "message") return messageItem(entry.message, entry.id, hidden);
  const content = hidden ? null : toldContent(entry);
  return content === null ? null : { message: { role: "user", content, entryId: entry.id }, hidden };
}

/** What a node that is no message tells a model, as if the user had said it; null when it tells nothing. */
export function toldContent(entry: Entry): readonly ContentBlock[] | null {
  if (entry.type === "branch_summary") return [textBlock(BRANCH_INTRO + entry.summary)];
  if (entry.type !== "custom" || entry.inContext !== true) return null;
  return entry.content ?? [textBlock(customText(entry))];
}

function messageItem(message: Message, entryId: EntryId, hidden: boolean): PairItem | null {
  if (message.role === "toolResult") {
    const { toolCallId, toolName, isError, content } = message;
    const named = {
      ...(toolName === undefined ? {} : { toolName }),
      ...(isError === undefined ? {} : { isError }),
    };
    return { message: { role: "toolResult", toolCallId, ...named, content, entryId }, hidden };
  }
  // Providers refuse empty messages, and an empty reply replayed reads as work already done.
  if (hidden || message.content.every(isBlank)) return null;
  return { message: { role: message.role, content: message.content, entryId }, hidden };
}

function isBlank(block: ContentBlock): boolean {
  return block.type === "text" && block.text.trim() === "";
}

function said(text: string, entryId: EntryId | null): PairItem {
  return { message: { role: "user", content: [textBlock(text)], entryId }, hidden: false };
}

function textBlock(text: string): ContentBlock {
  return { type: "text", text };
}

/** Data that is no text enters as its exact JSON, every digit of it. */
function customText(entry: EntryOf<"custom">): string {
  if (typeof entry.data === "string") return entry.data;
  return membersOf(entry.payload).find((member) => member.name === "data")?.text ?? "";
}
