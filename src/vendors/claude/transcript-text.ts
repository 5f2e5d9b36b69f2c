import type { AssistantMessage, ContentBlock, Message, ToolCall } from "#log/message";
import type { Json } from "#log/json/json-text";
import type { Fields } from "#log/json/json-fields";
import { OUTCOME_UNKNOWN } from "#log/projections/pairs";
import type { NewTranscript } from "#vendors/native-store";

const WRITTEN_AS = "2.1.312"; // the version of Claude Code that was seen to resume these records
const IMAGE_CHARS_MAX = 5_242_880; // the API refuses larger images, and then every later prompt of the session
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const STOP_REASONS: ReadonlySet<string> = new Set(["end_turn", "tool_use", "max_tokens", "stop_sequence"]);
// The API requires a user message first. As a note it reaches the model and counts as no message.
const OPENING: Fields = {
  type: "user",
  isMeta: true,
  message: {
    role: "user",
    content: [
      { type: "text", text: "The input that the following message answers is not part of the conversation." },
    ],
  },
};

/** The lines of a transcript that Claude can resume, each record the child of the one before it. */
export function transcriptText(id: string, transcript: NewTranscript): string {
  const pairs = pairCalls(transcript.messages, transcript.newId);
  const own = transcript.messages.flatMap((message) => recordsOf(message, pairs, transcript.newId));
  const records = own[0]?.["type"] === "assistant" ? [OPENING, ...own] : own;
  let parentUuid: string | null = null;
  const lines: string[] = [];
  for (const [n, record] of records.entries()) {
    const uuid = transcript.newId();
    const line: Fields = {
      parentUuid,
      isSidechain: false,
      ...record,
      uuid,
      // Claude sorts by time in places, so each record has its own.
      timestamp: new Date(transcript.nowMs - (records.length - 1 - n)).toISOString(),
      userType: "external",
      cwd: transcript.cwd,
      sessionId: id,
      version: WRITTEN_AS,
      gitBranch: "",
    };
    lines.push(`${wellFormed(JSON.stringify(line))}\n`);
    parentUuid = uuid;
  }
  return lines.join("");
}

/** JSON may hold half a character as an escape; the API refuses a request that does. */
function wellFormed(json: string): string {
  return json.replaceAll(/\\(?:\\|ud[89a-f][0-9a-f]{2})/g, (escape) =>
    escape === "\\\\" ? escape : "\\ufffd",
  );
}

function recordsOf(
  message: Message,
  pairs: ReadonlyMap<ToolCall, PairedCall>,
  newId: () => string,
): readonly Fields[] {
  if (message.role === "assistant") return answerRecords(message, pairs, newId);
  // A result follows its call, wherever it arrived.
  if (message.role === "toolResult") return [];
  const content = message.content.flatMap(inputBlock);
  if (content.length === 0) return [];
  // The source tells these words from what Claude itself writes in the user's place.
  return [
    { type: "user", message: { role: "user", content }, promptSource: "sdk", origin: { kind: "human" } },
  ];
}

function answerRecords(
  message: AssistantMessage,
  pairs: ReadonlyMap<ToolCall, PairedCall>,
  newId: () => string,
): readonly Fields[] {
  const calls = message.content
    .filter((block) => block.type === "toolCall")
    .map((block) => pairs.get(block))
    .filter((pair) => pair !== undefined);
  const content = message.content.flatMap((block) => answerBlock(block, message.model, pairs));
  if (content.length === 0) return [];
  const natural = calls.length > 0 ? "tool_use" : "end_turn";
  const { stopReason = natural, usage = {} } = message;
  const answer: Fields = {
    type: "assistant",
    message: {
      id: `msg_${newId().replaceAll("-", "")}`,
      type: "message",
      role: "assistant",
      // Claude continues with the model of the last answer, so only one of its own may be named.
      model: isOwn(message.model) ? message.model : "",
      content,
      stop_reason: STOP_REASONS.has(stopReason) ? stopReason : natural,
      stop_sequence: null,
      usage: {
        input_tokens: usage.inputTokens ?? 0,
        output_tokens: usage.outputTokens ?? 0,
        cache_read_input_tokens: usage.cacheReadTokens ?? 0,
        cache_creation_input_tokens: usage.cacheWriteTokens ?? 0,
      },
    },
  };
  return [answer, ...calls.map(resultRecord)];
}

function resultRecord({ id, result }: PairedCall): Fields {
  const block: Fields =
    result === null
      ? { type: "tool_result", tool_use_id: id, content: OUTCOME_UNKNOWN, is_error: true }
      : {
          type: "tool_result",
          tool_use_id: id,
          content: result.content.flatMap(inputBlock),
          is_error: result.isError === true,
        };
  // An error has to say something.
  const empty = Array.isArray(block["content"]) && block["content"].length === 0;
  const content = empty && block["is_error"] === true ? "No output." : (block["content"] ?? []);
  return { type: "user", message: { role: "user", content: [{ ...block, content }] } };
}

/** What a user or a tool may send: text that is not blank, and images that the API accepts. */
function inputBlock(block: ContentBlock): readonly Fields[] {
  if (block.type === "text") return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
  if (block.type !== "image") return [];
  const { mediaType, data } = block;
  const fits = data !== undefined && data.length <= IMAGE_CHARS_MAX && IMAGE_TYPES.has(mediaType);
  if (!fits || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    return [{ type: "text", text: `[image omitted: ${mediaType}]` }];
  return [{ type: "image", source: { type: "base64", media_type: mediaType, data } }];
}

function answerBlock(
  block: ContentBlock,
  model: string | undefined,
  pairs: ReadonlyMap<ToolCall, PairedCall>,
): readonly Fields[] {
  if (block.type === "text") return inputBlock(block);
  if (block.type === "thinking") {
    // A signature is worth something only to the one who made it; a foreign one spoils the session.
    const { signature = "" } = block;
    return signature !== "" && isOwn(model)
      ? [{ type: "thinking", thinking: block.thinking, signature }]
      : [];
  }
  const pair = block.type === "toolCall" ? pairs.get(block) : undefined;
  if (block.type !== "toolCall" || pair === undefined) return [];
  return [{ type: "tool_use", id: pair.id, name: apiName(block.name), input: inputObject(block.input) }];
}

function isOwn(model: string | undefined): model is string {
  return model?.includes("claude") === true;
}

function inputObject(input: Json): Json {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? input : { input };
}

type ToolResult = Extract<Message, { role: "toolResult" }>;

/** A call as it goes into a transcript: under an id the model's API takes, with the one result it has. */
interface PairedCall {
  readonly id: string;
  result: ToolResult | null;
}

/** The pair of every call in the messages. A result without a call is in no pair: the API would refuse it. */
function pairCalls(messages: readonly Message[], newId: () => string): ReadonlyMap<ToolCall, PairedCall> {
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [],
  );
  const all = new Set(calls.map((call) => call.id));
  const used = new Set<string>();
  const pairs = new Map<ToolCall, PairedCall>();
  const latest = new Map<string, PairedCall>();
  for (const message of messages) {
    if (message.role === "toolResult") {
      // The last result of a call counts: an earlier one may have been a placeholder.
      const pair = latest.get(message.toolCallId);
      if (pair !== undefined) pair.result = message;
    }
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const keepsId = !used.has(block.id) && isApiId(block.id) && !isCopyOf(block.id, all);
      const pair: PairedCall = {
        id: keepsId ? block.id : `toolu_x${newId().replaceAll("-", "")}`,
        result: null,
      };
      used.add(block.id);
      latest.set(block.id, pair);
      pairs.set(block, pair);
    }
  }
  return pairs;
}

function isApiId(id: string): boolean {
  return /^[a-zA-Z0-9_-]{1,512}$/.test(id);
}

/** Claude takes `a_1` for a copy of the call `a` and throws its result away. */
function isCopyOf(id: string, all: ReadonlySet<string>): boolean {
  const original = id.replace(/_\d+$/, "");
  return original !== "" && original !== id && (all.has(original) || isCopyOf(original, all));
}

function apiName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 128) || "tool";
}
