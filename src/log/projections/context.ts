import type { Entry, EntryOf } from "#log/entry";
import type { ContentBlock, Message, Role } from "#log/message";
import type { EntryId } from "#log/ids";
import { membersOf } from "#log/json/json-text";
import type { Issue } from "./issues.ts";
import { type ContextMessage, PairReader } from "./pairs.ts";
import type { LatestSettings, Settings } from "./settings.ts";
import type { Window, WindowBounds } from "./window.ts";

/** What the model is to be sent, and with which settings. */
export interface Context extends Settings {
  readonly leaf: EntryId;
  readonly messages: readonly ContextMessage[];
  /** The compaction whose summary opens the messages. */
  readonly compaction: EntryId | null;
  readonly issues: readonly Issue[];
}

/** A context with the entries it was made of, which have the exact text of what they were given. */
export interface ExactContext extends Context {
  /** The entries behind its messages. */
  readonly entries: ReadonlyMap<EntryId, Entry>;
  /** The entries behind its settings. */
  readonly settings: LatestSettings;
}

const SUMMARY_INTRO = "Summary of the conversation so far:\n\n";
const MESSAGE_HIDDEN = "This message was hidden.";
const SEEDS_LEFT_OUT = "The input that this message answers is not part of the conversation.";
const BRANCH_INTRO = "Summary of another branch of this conversation:\n\n";

/** Projects a window into the messages of the next request. */
export function contextOf(window: Window, settings: Settings, leaf: EntryId): Context {
  const context = new ContextReader();
  context.add(window.entries, window.hidden);
  return context.result(window, settings, leaf);
}

/**
 * The same for a window that is taken as it is read, newest first: no pass over all of it is left for the end. Whoever
 * wants the issues alone keeps no messages, and only an exact context keeps the entries.
 */
export class ContextReader {
  readonly #messages: ContextMessage[] = [];
  readonly entries: Map<EntryId, Entry> = new Map();
  readonly #keep: "issues" | "messages" | "entries";
  readonly #pairs: PairReader;
  /** Of the oldest message by now. */
  #role: Role | null = null;
  /** What stands where the oldest message by now answers something that is not told; null where nothing has to. */
  #opening: string | null = null;
  /** Entries read from here on are older than a compaction. */
  #beforeCompaction: boolean = false;

  constructor(keep: "issues" | "messages" | "entries" = "messages") {
    this.#keep = keep;
    this.#pairs = new PairReader((message) => keep !== "issues" && this.#messages.push(message));
  }

  add(entries: Iterable<Entry>, hidden: ReadonlySet<EntryId>): void {
    for (const entry of entries) {
      const isHidden = hidden.has(entry.id);
      if (entry.type === "message")
        this.#opening = isHidden && entry.message.role === "user" ? MESSAGE_HIDDEN : null;
      else if (entry.type === "seed") this.#opening ??= SEEDS_LEFT_OUT;
      if (entry.type === "compaction") this.#beforeCompaction = true;
      const message = messageOf(entry, isHidden, this.#beforeCompaction);
      if (message === null) continue;
      this.#role = message.role;
      if (this.#keep === "entries") this.entries.set(entry.id, entry);
      this.#pairs.add(message, isHidden);
    }
  }

  result(window: WindowBounds, settings: Settings, leaf: EntryId): Context {
    const compaction = window.compaction?.id ?? null;
    if (window.compaction !== null) this.#pairs.add(userText(SUMMARY_INTRO + window.compaction.summary));
    // Providers refuse a conversation that begins with a reply, so what it replied to keeps its place: seeds where the window
    // begins with them (`done`), for elsewhere something stands before.
    else if (
      this.#role === "assistant" &&
      this.#opening !== null &&
      (window.done || this.#opening === MESSAGE_HIDDEN)
    )
      this.#pairs.add(userText(this.#opening));
    const issues = this.issues(window);
    return { ...settings, leaf, messages: this.#messages.toReversed(), compaction, issues };
  }

  issues({ compaction, boundaryMissing }: WindowBounds): readonly Issue[] {
    const issues = this.#pairs.issues();
    if (!boundaryMissing) return issues;
    const message =
      "The first kept entry of the compaction is not on this branch, so the context is not shortened";
    return [{ kind: "boundary_missing", entry: compaction?.id ?? null, message }, ...issues];
  }
}

function messageOf(entry: Entry, hidden: boolean, beforeCompaction: boolean): ContextMessage | null {
  if (entry.type === "message") {
    const message = sentMessage(entry.message, entry.id, hidden);
    // Thinking without a known provider is sent to no model anyway.
    if (!beforeCompaction || message?.model === undefined) return message;
    return message.content.some(isThinking) ? { ...message, staleThinking: true } : message;
  }
  const content = hidden ? null : modelContent(entry);
  return content === null ? null : { role: "user", content, entryId: entry.id };
}

/** The text of a node that is not a message, as if the user had sent it; null when it has none for the model. */
export function modelContent(entry: Entry): readonly ContentBlock[] | null {
  if (entry.type === "branch_summary") return [textBlock(BRANCH_INTRO + entry.summary)];
  if (entry.type !== "custom" || entry.inContext !== true) return null;
  return entry.content ?? [textBlock(customText(entry))];
}

/** A context may be thousands of messages: each is made in one piece. */
function sentMessage(message: Message, entryId: EntryId, hidden: boolean): ContextMessage | null {
  if (message.role === "toolResult") {
    const { toolCallId, toolName, isError, content } = message;
    if (toolName !== undefined && isError !== undefined)
      return { role: "toolResult", toolCallId, toolName, isError, content, entryId };
    const named = {
      ...(toolName === undefined ? {} : { toolName }),
      ...(isError === undefined ? {} : { isError }),
    };
    return { role: "toolResult", toolCallId, ...named, content, entryId };
  }
  // Providers refuse empty messages, and an empty reply replayed reads as work already done.
  if (hidden || message.content.every(isBlank)) return null;
  const { role, content } = message;
  return role === "assistant" && message.model !== undefined
    ? { role, content, model: message.model, entryId }
    : { role, content, entryId };
}

function isThinking({ type }: ContentBlock): boolean {
  return type === "thinking" || type === "redactedThinking";
}

/** Nothing of it is sent. */
export function isBlank(block: ContentBlock): boolean {
  return block.type === "text" && block.text.trim() === "";
}

function userText(text: string): ContextMessage {
  return { role: "user", content: [textBlock(text)], entryId: null };
}

function textBlock(text: string): ContentBlock {
  return { type: "text", text };
}

/** Data that is not text enters as its exact JSON, every digit of it. */
function customText(entry: EntryOf<"custom">): string {
  if (typeof entry.data === "string") return entry.data;
  return membersOf(entry.payload).find((member) => member.name === "data")?.text ?? "";
}
