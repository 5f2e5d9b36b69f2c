import type { AssistantMessage, ContentBlock, Message, Usage } from "#log/message";
import type { Json } from "#log/json/json-text";
import type { NativeMessage } from "#upstream/upstream";
import { missingOutcome } from "./call-outcome.ts";
import { countIn, type Fields, fieldsIn, listIn, textIn } from "#log/json/json-fields";

// What Claude writes in the user's place. Records of prompts say where the prompt came from, these do not.
const WRAPPED =
  /^\s*<(?:command-(?:name|message|args)|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)|task-notification|system-reminder)[\s>]/;
const COMMAND = /^\s*<command-(?:name|message)>[^]*?(?<=<command-name>)(\/[^<]*)<\/command-name>/;
const ARGUMENTS = /<command-args>([^]*)<\/command-args>/;
const INTERRUPTED = /^\[Request interrupted by user[^\]]*\]$/;

/** An answer that may get more records: there is one per block, and results may come between them. */
interface Answer {
  readonly id: string | null;
  readonly time: string | null;
  readonly index: number;
  readonly content: ContentBlock[];
}

/** The id of the answer that an assistant's record is a part of. */
export function answerId(record: Fields): string | null {
  return record["type"] === "assistant" ? textIn(fieldsIn(record["message"])?.["id"]) : null;
}

/** The messages in the records of one branch. */
export function messagesIn(records: readonly Fields[]): readonly NativeMessage[] {
  const messages: NativeMessage[] = [];
  const tools = new Map<string, string>();
  const seen = new Set<string>();
  let answer: Answer | null = null;
  for (const record of records) {
    const ownId = ownIdOf(record);
    // What waits for its turn may be recorded twice: while it waits, and when the turn comes.
    if (isAside(record) || (ownId !== null && seen.has(ownId))) continue;
    if (ownId !== null) seen.add(ownId);
    if (record["type"] === "assistant") {
      const id = answerId(record);
      if (answer === null || id === null || answer.id !== id) {
        answer = { id, time: timeOf(record), index: messages.length, content: [] };
      }
      answer.content.push(...partsOf(record));
      const before = messages[answer.index]?.message;
      const message: Message = { ...before, ...extrasOf(record), role: "assistant", content: answer.content };
      messages[answer.index] = { id, time: answer.time, message };
      for (const block of partsOf(record)) if (block.type === "toolCall") tools.set(block.id, block.name);
      continue;
    }
    for (const message of saidBy(record, tools)) {
      if (message.role === "user") answer = null;
      messages.push({ id: ownId, time: timeOf(record), message, ...outcomeOf(record, message) });
    }
  }
  // An answer of which nothing is kept is none.
  return messages.filter(({ message }) => message.role !== "assistant" || message.content.length > 0);
}

/** What is known about a call that has no outcome of its own. */
function outcomeOf(record: Fields, message: Message): Pick<NativeMessage, "cutOff" | "notRun"> {
  if (message.role !== "toolResult") return {};
  const { toolName: tool, isError = false, content } = message;
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  const [kind, detail] = [textIn(record["toolDenialKind"]), textIn(record["toolUseResult"])];
  const missing = missingOutcome({ tool, text, kind, isError, detail });
  if (missing === null) return {};
  return missing === "not_run" ? { notRun: true } : { cutOff: true };
}

/** Not part of the conversation: notes of the agent to itself or to the model, and errors in place of an answer. */
function isAside(record: Fields): boolean {
  return (
    record["isMeta"] === true ||
    record["isCompactSummary"] === true ||
    record["isVisibleInTranscriptOnly"] === true ||
    record["isApiErrorMessage"] === true ||
    fieldsIn(record["message"])?.["model"] === "<synthetic>"
  );
}

/** The id of a record, or of the prompt that it hands on. */
function ownIdOf(record: Fields): string | null {
  return textIn(fieldsIn(record["attachment"])?.["source_uuid"]) ?? textIn(record["uuid"]);
}

function timeOf(record: Fields): string | null {
  return textIn(record["timestamp"]);
}

function saidBy(record: Fields, tools: ReadonlyMap<string, string>): readonly Message[] {
  const attachment = fieldsIn(record["attachment"]);
  if (attachment !== null) return queuedBy(attachment);
  const blocks = blocksIn(fieldsIn(record["message"])?.["content"]);
  const results = blocks
    .filter((block) => block["type"] === "tool_result")
    .map((block) => resultOf(block, tools));
  const prompted = record["promptSource"] !== undefined;
  const content = blocks.flatMap(contentOf).flatMap((block) => (prompted ? [block] : wordsOf(block)));
  return content.length === 0 ? results : [...results, { role: "user", content }];
}

/** A prompt that was sent while a turn ran. Notices take the same way, but no person is their origin. */
function queuedBy(attachment: Fields): readonly Message[] {
  const origin = textIn(fieldsIn(attachment["origin"])?.["kind"]);
  if (origin !== "human" || attachment["commandMode"] !== "prompt") return [];
  const content = blocksIn(attachment["prompt"]).flatMap(contentOf);
  return content.length === 0 ? [] : [{ role: "user", content }];
}

function blocksIn(content: Json | undefined): readonly Fields[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : listIn(content);
}

function wordsOf(block: ContentBlock): readonly ContentBlock[] {
  if (block.type !== "text") return [block];
  const command = COMMAND.exec(block.text)?.[1];
  if (command !== undefined) {
    // Tells typed text from what Claude made of it.
    const args = ARGUMENTS.exec(block.text)?.[1] ?? "";
    return [{ type: "text", text: `${command} ${args}`.trimEnd() }];
  }
  return WRAPPED.test(block.text) || INTERRUPTED.test(block.text) ? [] : [block];
}

function resultOf(block: Fields, tools: ReadonlyMap<string, string>): Message {
  const toolCallId = textIn(block["tool_use_id"]) ?? "";
  const toolName = tools.get(toolCallId);
  return {
    role: "toolResult",
    toolCallId,
    ...(toolName === undefined ? {} : { toolName }),
    ...(block["is_error"] === true ? { isError: true } : {}),
    content: blocksIn(block["content"]).flatMap(contentOf),
  };
}

function contentOf(block: Fields): readonly ContentBlock[] {
  const text = textIn(block["text"]);
  if (block["type"] === "text") return text === null || text === "" ? [] : [{ type: "text", text }];
  const source = fieldsIn(block["source"]);
  const mediaType = textIn(source?.["media_type"]);
  const data = textIn(source?.["data"]);
  if (block["type"] !== "image" || mediaType === null || data === null) return [];
  return [{ type: "image", mediaType, data }];
}

function partsOf(record: Fields): readonly ContentBlock[] {
  return blocksIn(fieldsIn(record["message"])?.["content"]).flatMap(partOf);
}

function extrasOf(record: Fields): Pick<AssistantMessage, "model" | "stopReason" | "usage"> {
  const message = fieldsIn(record["message"]) ?? {};
  const model = textIn(message["model"]);
  const stopReason = textIn(message["stop_reason"]);
  const usage = usageOf(fieldsIn(message["usage"]));
  return {
    ...(model === null || model === "" ? {} : { model }),
    ...(stopReason === null ? {} : { stopReason }),
    ...(usage === null ? {} : { usage }),
  };
}

function partOf(block: Fields): readonly ContentBlock[] {
  const thinking = textIn(block["thinking"]);
  const signature = textIn(block["signature"]);
  const id = textIn(block["id"]);
  const name = textIn(block["name"]);
  if (block["type"] === "thinking" && thinking !== null) {
    return [{ type: "thinking", thinking, ...(signature === null ? {} : { signature }) }];
  }
  if (block["type"] === "tool_use" && id !== null && name !== null) {
    return [{ type: "toolCall", id, name, input: block["input"] ?? {} }];
  }
  return block["type"] === "text" ? contentOf(block) : [];
}

function usageOf(usage: Fields | null): Usage | null {
  if (usage === null) return null;
  const counts = [
    ["inputTokens", countIn(usage["input_tokens"])],
    ["outputTokens", countIn(usage["output_tokens"])],
    ["cacheReadTokens", countIn(usage["cache_read_input_tokens"])],
    ["cacheWriteTokens", countIn(usage["cache_creation_input_tokens"])],
  ] as const;
  return Object.fromEntries(counts.filter(([, count]) => count !== null));
}
