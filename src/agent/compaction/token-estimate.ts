import type { Entry } from "#log/entry";
import type { ContentBlock, Usage } from "#log/message";
import { modelContent } from "#log/projections/context";
import type { Window } from "#log/projections/window";

const IMAGE_TOKENS = 1_600; // what providers count for a large picture; they scale larger ones down
const MESSAGE_TOKENS = 4; // role and separators
const BLOCK_CHARS_MAX = 2_000_000; // more than any window takes: the rest of a longer text is counted at the same rate

type Kind = "space" | "line" | "lower" | "upper" | "digit" | "mark" | "wide" | "other";

/** By kind of text: what a run of it costs, and each of its characters. Fitted to prose, code, JSON, logs, base64 and Chinese. */
const COSTS: { readonly [K in Kind]: { readonly run: number; readonly char: number } } = {
  space: { run: 0, char: 0.02 },
  line: { run: 0.4, char: 0.05 },
  lower: { run: 0.6, char: 0.1 },
  upper: { run: 0.4, char: 0.6 },
  digit: { run: 0.7, char: 0.35 },
  mark: { run: 0.45, char: 0.3 },
  wide: { run: 0, char: 0.7 },
  other: { run: 0.3, char: 0.45 },
};

/**
 * Roughly how many tokens a text is, in one pass: an exact tokenizer can take minutes for an unlucky text, and belongs to
 * one model.
 */
export function estimateTokens(text: string): number {
  const length = Math.min(text.length, BLOCK_CHARS_MAX);
  let tokens = 0;
  let before: Kind | null = null;
  for (let index = 0; index < length; index++) {
    const kind = kindOf(text.charCodeAt(index));
    const { run, char } = COSTS[kind];
    // A capital opens the word behind it, which costs no run of its own.
    if (kind !== before && !(kind === "lower" && before === "upper")) tokens += run;
    tokens += char;
    before = kind;
  }
  return Math.ceil(length === 0 ? 0 : tokens * (text.length / length));
}

function kindOf(unit: number): Kind {
  if (unit >= 0x80) return unit >= 0x2e80 ? "wide" : "other";
  if (unit >= 0x61 && unit <= 0x7a) return "lower";
  if (unit === 0x20) return "space";
  if (unit >= 0x41 && unit <= 0x5a) return "upper";
  if (unit >= 0x30 && unit <= 0x39) return "digit";
  return unit < 0x20 ? "line" : "mark";
}

/** What an entry adds to a request; nothing when it says nothing to a model. */
export function entryTokens(entry: Entry): number {
  const content = entry.type === "message" ? entry.message.content : modelContent(entry);
  return content === null ? 0 : contentTokens(content);
}

function contentTokens(content: readonly ContentBlock[]): number {
  return content.reduce((tokens, block) => tokens + blockTokens(block), MESSAGE_TOKENS);
}

/** What messages are in a request, by estimate alone. */
export function messagesTokens(messages: readonly { readonly content: readonly ContentBlock[] }[]): number {
  return messages.reduce((tokens, { content }) => tokens + contentTokens(content), 0);
}

function blockTokens(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return estimateTokens(block.text);
    case "thinking":
      return estimateTokens(block.thinking);
    case "toolCall":
      return estimateTokens(`${block.name} ${JSON.stringify(block.input)}`);
    case "image":
    case "audio":
    case "file":
      return IMAGE_TOKENS;
    default:
      return estimateTokens(JSON.stringify(block));
  }
}

export interface ContextCounts {
  /** The latest `hide` of the conversation; 0 when there is none. What was counted before it may have been other than now. */
  readonly lastHideSeq: number;
  /** How many nodes of the window, from the newest, are the conversation's own and not of the one it was forked from. */
  readonly ownNodes: number;
  /** What every request has besides the messages: instructions and tools. */
  readonly fixedTokens: number;
}

/**
 * How many tokens the next request has: what the latest reply was counted with, where that still holds, and an estimate of
 * what came since; else an estimate of all of it.
 */
export function contextTokens(window: Window, counts: ContextCounts): number {
  const { entries, hidden, compaction } = window;
  const tokensBetween = (from: number, to: number): number =>
    entries
      .slice(from, to)
      .reduce((tokens, entry) => tokens + (hidden.has(entry.id) ? MESSAGE_TOKENS : entryTokens(entry)), 0);
  // What a run with seeds was counted with is not what stands in the window.
  const anchor = entries.some(({ type }) => type === "seed") ? null : anchorOf(window, counts);
  if (anchor !== null) return anchor.tokens + tokensBetween(0, anchor.index);
  const summary = compaction === null ? 0 : estimateTokens(compaction.summary);
  return counts.fixedTokens + summary + tokensBetween(0, entries.length);
}

function anchorOf(
  { entries, hidden, compaction }: Window,
  counts: ContextCounts,
): { readonly index: number; readonly tokens: number } | null {
  for (const [index, entry] of entries.entries()) {
    if (entry.id === compaction?.id) return null;
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    const tokens = usedTokens(entry.message.usage);
    if (tokens === 0) continue;
    const own = index < counts.ownNodes;
    // Seqs of the log a fork came from cannot be compared with its own.
    const holds = own ? entry.seq > counts.lastHideSeq : counts.lastHideSeq === 0 && hidden.size === 0;
    return holds ? { index, tokens } : null;
  }
  return null;
}

/** The whole of a request and its answer; what came from a cache is counted apart from the input. */
function usedTokens(usage: Usage | undefined): number {
  if (usage?.inputTokens === undefined) return 0;
  const { inputTokens, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}
