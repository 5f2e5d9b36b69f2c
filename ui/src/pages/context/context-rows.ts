import type { Api } from "#edges/http/client/index";
import { OUTCOME_UNKNOWN } from "#log/projections/pairs";
import type { ContentBlock } from "#log/message";
import { safeLine } from "#transfer/views/safe-text";
import { tellingArgument } from "../../text/telling-argument.ts";

export type Sizes = Api["getContextSizes"]["response"];
export type Exact = Api["getContext"]["response"];
export type ItemKind = "summary" | "prompt" | "reply" | "result" | "unknown" | "other";

export interface ContextRow {
  readonly place: number;
  readonly entry: string | null;
  readonly kind: ItemKind;
  /** Who says it: a person, a model, a tool. */
  readonly name: string;
  readonly says: string;
  readonly tokens: number;
  /** How many tokens stand in front of it. */
  readonly from: number;
}

const SAYS_MAX = 300;
const NAMES: Readonly<Record<ItemKind, string>> = {
  summary: "Summary",
  prompt: "You",
  reply: "Agent",
  result: "Tool",
  unknown: "Tool",
  other: "Other",
};

function saysOf(content: readonly ContentBlock[]): string {
  let says = "";
  for (const block of content) {
    if (says.length > SAYS_MAX) break;
    if (block.type === "text") says += ` ${block.text.slice(0, SAYS_MAX)}`;
    else if (block.type === "thinking") says += ` (thinks) ${block.thinking.slice(0, SAYS_MAX)}`;
    else if (block.type === "toolCall") says += ` calls ${block.name} ${tellingArgument(block.input)}`;
    else says += ` [${block.type}]`;
  }
  return safeLine(says.slice(0, SAYS_MAX));
}

function kindOf(message: Exact["messages"][number], isSummary: boolean): ItemKind {
  const { role, content } = message;
  if (isSummary) return "summary";
  if (role === "user") return "prompt";
  if (role === "assistant") return "reply";
  if (role !== "toolResult") return "other";
  const isUnknown = content.some((block) => block.type === "text" && block.text === OUTCOME_UNKNOWN);
  return isUnknown ? "unknown" : "result";
}

/** What is sent, item by item; each begins where the one before it ended. */
export function contextRows(sizes: Sizes, exact: Exact): readonly ContextRow[] {
  let from = 0;
  return exact.messages.map((message, place) => {
    const { entry = null, tokens = 0 } = sizes.messages[place] ?? {};
    // A summary stands in front of all that is kept, and is no entry of its own.
    const isSummary =
      sizes.compaction !== null && (entry === sizes.compaction || (entry === null && place === 0));
    const kind = kindOf(message, isSummary);
    const tool = kind === "result" || kind === "unknown" ? message.toolName : undefined;
    const name = tool === undefined ? NAMES[kind] : safeLine(tool);
    const row = { place, entry, kind, name, says: saysOf(message.content), tokens, from };
    from += tokens;
    return row;
  });
}

/** A row of the list: an item that is sent, the line of what was folded away, or an item of that. */
export type ListedRow =
  | { readonly is: "sent"; readonly row: ContextRow }
  | { readonly is: "fold" }
  | { readonly is: "folded"; readonly row: ContextRow };

/** Behind the summary stands what it folded away: as one line, and item by item where it is opened. */
export function listedRows(
  rows: readonly ContextRow[],
  folded: readonly ContextRow[] | null,
): readonly ListedRow[] {
  const sent = rows.map((row): ListedRow => ({ is: "sent", row }));
  const summary = rows.findIndex(({ kind }) => kind === "summary");
  if (summary === -1 || folded === null) return sent;
  const open = folded.map((row): ListedRow => ({ is: "folded", row }));
  return [...sent.slice(0, summary + 1), { is: "fold" }, ...open, ...sent.slice(summary + 1)];
}

/** What a summary took the place of. */
export interface Folded {
  readonly messages: number;
  readonly tokens: number;
  readonly prompts: number;
  readonly replies: number;
  readonly results: number;
}

/** How many of the messages that were sent in front of a compaction it folded: all but what was kept. */
function foldedCount(before: Sizes, firstKept: string | undefined): number {
  const kept = before.messages.findIndex(({ entry }) => entry !== null && entry === firstKept);
  return kept === -1 ? before.messages.length : kept;
}

/** The messages that a summary stands for, item by item. */
export function foldedRows(
  before: Sizes,
  exact: Exact,
  firstKept: string | undefined,
): readonly ContextRow[] {
  return contextRows(before, exact).slice(0, foldedCount(before, firstKept));
}

/** `before`: what was sent in front of the compaction. */
export function foldedOf(before: Sizes, firstKept: string | undefined): Folded {
  const folded = before.messages.slice(0, foldedCount(before, firstKept));
  const tokensOf = (role: string): number =>
    folded.reduce((sum, message) => sum + (message.role === role ? message.tokens : 0), 0);
  return {
    messages: folded.length,
    tokens: folded.reduce((sum, { tokens }) => sum + tokens, 0),
    prompts: tokensOf("user"),
    replies: tokensOf("assistant"),
    results: tokensOf("toolResult"),
  };
}
