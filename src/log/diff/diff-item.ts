import type { Entry, EntryOf } from "#log/entry";
import type { EntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import { isNestedDeeper } from "#log/json/read-json";
import { canonicalText } from "#log/json/json-fields";
import { type ContentBlock, type ToolCall, isInternal } from "#log/message";
import { resultsByCall } from "#log/results-by-call";

export const LEVELS_MAX = 1_000; // deeper values cannot be written as JSON by every program
const TOO_DEEP = "(nested too deeply to show)";

/** What a user or a model said. */
interface TextItem {
  readonly kind: "prompt" | "text";
  /** The entry it stands in. */
  readonly entry: EntryId;
  /** Which turn since the common start, from 1. */
  readonly turn: number;
  /** Equal for equal items. */
  readonly key: string;
  readonly text: string;
}

/** A tool call with its result. */
export interface CallItem {
  readonly kind: "call";
  readonly entry: EntryId;
  readonly turn: number;
  readonly key: string;
  readonly call: string;
  readonly name: string;
  readonly input: Json;
  /** Null: none was recorded. */
  readonly result: { readonly text: string; readonly isError: boolean; readonly key: string } | null;
}

/** The compared entries of a branch, without thinking, settings and compactions. */
export type DiffItem = TextItem | CallItem;

/** `turns`: the number of the turn that each node lies in. */
export function diffItems(nodes: readonly Entry[], turns: readonly number[]): readonly DiffItem[] {
  const items: DiffItem[] = [];
  const results = resultsByCall(nodes);
  for (const [index, entry] of nodes.entries()) {
    if (entry.type !== "message" || entry.message.role === "toolResult") continue;
    const place = { entry: entry.id, turn: turns[index] ?? 1 };
    let pieces: ContentBlock[] = [];
    const endText = (): void => {
      const item = textItem(pieces, entry.message.role === "user" ? "prompt" : "text", place);
      if (item.key !== "" && !isInternal(entry)) items.push(item);
      pieces = [];
    };
    for (const block of entry.message.content) {
      if (block.type !== "toolCall") pieces.push(block);
      else {
        endText();
        items.push(callItem(block, entry, { ...place, result: results.of.get(block) }));
      }
    }
    endText();
  }
  return items;
}

type ItemPlace = Pick<DiffItem, "entry" | "turn">;

function textItem(blocks: readonly ContentBlock[], kind: TextItem["kind"], place: ItemPlace): TextItem {
  return { kind, ...place, text: shownText(blocks), key: comparedText(blocks) };
}

function callItem(
  { id, name, input }: ToolCall,
  entry: EntryOf<"message">,
  { result, ...place }: ItemPlace & { readonly result: EntryOf<"message"> | undefined },
): CallItem {
  const key = callKey(name, input);
  const isDeep = key === null;
  return {
    kind: "call",
    ...place,
    call: id,
    name,
    input: isDeep ? TOO_DEEP : input,
    result: result === undefined ? null : resultOf(result),
    key: key ?? `${name}\n${id}\n${entry.payload}`,
  };
}

/** What calls are the same by: the tool and its arguments as JSON values; null: nested too deeply to be compared. */
export function callKey(name: string, input: Json): string | null {
  return isNestedDeeper(input, LEVELS_MAX) ? null : `${name}\n${canonicalText(input)}`;
}

function resultOf({ message }: EntryOf<"message">): NonNullable<CallItem["result"]> {
  const isError = message.role === "toolResult" && message.isError === true;
  return {
    text: shownText(message.content),
    isError,
    key: `${String(isError)}\n${comparedText(message.content)}`,
  };
}

function shownText(blocks: readonly ContentBlock[]): string {
  return blocks
    .map((block) => wordsOf(block, (media) => media.mediaType))
    .join("")
    .trim();
}

/** As it is shown, with bytes by their digest. */
function comparedText(blocks: readonly ContentBlock[]): string {
  const text = blocks.map((block) =>
    wordsOf(block, ({ mediaType, blob, data }) => `${mediaType} ${blob ?? data ?? ""}`),
  );
  return text.join("").trim();
}

type Media = Extract<ContentBlock, { type: "image" | "audio" | "file" }>;

function wordsOf(block: ContentBlock, mediaText: (media: Media) => string): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
    case "file":
      return `[${mediaText(block)}]`;
    default:
      return "";
  }
}
