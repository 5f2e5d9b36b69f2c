import type { Entry } from "#log/entry";
import type { ContentBlock, ToolCall } from "#log/message";
import { modelContent } from "#log/projections/context";
import { escapeTags, promptSection, wrapSections } from "#agent/prompt/prompt-sections";

const RESULT_CHARS_MAX = 2_000; // the gist of a result; the log keeps all of it

/**
 * Entries, oldest first, as texts for a summary: one per message. Thinking is left out, results and arguments of calls are
 * shortened, pictures and files are named.
 */
export function historyTexts(entries: readonly Entry[]): readonly string[] {
  const unanswered = unansweredCalls(entries);
  return entries.flatMap((entry) => textOf(entry, unanswered));
}

function textOf(entry: Entry, unanswered: ReadonlySet<ToolCall>): readonly string[] {
  if (entry.type !== "message") {
    const content = modelContent(entry);
    return content === null ? [] : messageSection("host", blockTexts(content, unanswered));
  }
  const { message } = entry;
  if (message.role !== "toolResult")
    return messageSection(message.role, blockTexts(message.content, unanswered));
  const text = shorten(message.content.flatMap(plainText).join("\n"), RESULT_CHARS_MAX);
  const name = message.toolName === undefined ? {} : { tool: message.toolName };
  const failed = message.isError === true ? { failed: "yes" } : {};
  return [promptSection("result", text, { call: message.toolCallId, ...name, ...failed })];
}

function messageSection(from: string, blocks: readonly string[]): readonly string[] {
  return blocks.length === 0 ? [] : [wrapSections("message", blocks, { from })];
}

function blockTexts(blocks: readonly ContentBlock[], unanswered: ReadonlySet<ToolCall>): readonly string[] {
  return blocks.flatMap((block) => {
    if (block.type !== "toolCall") return plainText(block).map(escapeTags);
    const input = shorten(JSON.stringify(block.input), RESULT_CHARS_MAX);
    const outcome = unanswered.has(block) ? { outcome: "unknown" } : {};
    return [promptSection("call", input, { id: block.id, tool: block.name, ...outcome })];
  });
}

function plainText(block: ContentBlock): readonly string[] {
  switch (block.type) {
    case "text":
      return block.text.trim() === "" ? [] : [block.text];
    case "image":
    case "audio":
    case "file":
      return [`[${block.type}, ${block.mediaType}]`];
    default:
      return [];
  }
}

/** The beginning and the end of a text that is too long, with what is missing between them told. */
function shorten(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const tail = Math.floor(charsMax / 4);
  const [head, end] = [wholeStart(text, charsMax - tail), wholeStart(text, text.length - tail)];
  return `${text.slice(0, head)}\n[… ${end - head} characters left out …]\n${text.slice(end)}`;
}

/** The same place or one before it: never inside a pair of surrogates. */
export function wholeStart(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return index > 0 && unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
}

/** Ids come again: a result belongs to the latest call before it. */
function unansweredCalls(entries: readonly Entry[]): ReadonlySet<ToolCall> {
  const latest = new Map<string, ToolCall>();
  const open = new Set<ToolCall>();
  for (const entry of entries) {
    if (entry.type !== "message") continue;
    if (entry.message.role === "toolResult") {
      const call = latest.get(entry.message.toolCallId);
      if (call !== undefined) open.delete(call);
    } else if (entry.message.role === "assistant")
      for (const block of entry.message.content)
        if (block.type === "toolCall") {
          latest.set(block.id, block);
          open.add(block);
        }
  }
  return open;
}
