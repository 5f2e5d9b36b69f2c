import type { ContentBlock, Message } from "../../../log/entry.ts";
import type { Json } from "../../../log/json-text.ts";
import { countIn, type Fields, fieldsIn, listIn, textIn } from "./fields.ts";
import type { NativeMessage } from "./native.ts";

// What Codex writes in the user's place. Newer records name the kind of each part, older ones only look like this.
const WRAPPED =
  /^\s*(?:<(?:environment_context|user_instructions|turn_aborted|permissions instructions|skills?|skills_instructions|user_shell_command|subagent_notification|collaboration_mode|INSTRUCTIONS)[\s>]|# AGENTS\.md instructions)/;

const CALLS: ReadonlySet<string> = new Set(["function_call", "custom_tool_call", "local_shell_call"]);
const OUTPUTS: ReadonlySet<string> = new Set(["function_call_output", "custom_tool_call_output"]);

interface Answer {
  id: string | null;
  readonly time: string | null;
  readonly model: string | null;
  readonly content: ContentBlock[];
}

export interface RolloutReader {
  take(record: Fields): void;
  messages(): readonly NativeMessage[];
}

/** Gathers the messages of a rollout. Thought, text and calls are records of their own; they make up one answer. */
export function rolloutReader(): RolloutReader {
  const messages: NativeMessage[] = [];
  const tools = new Map<string, string>();
  let model: string | null = null;
  let answer: Answer | null = null;

  const add = (id: string | null, time: string | null, message: Message): void => {
    answer = null;
    messages.push({ id, time, message });
  };
  const addPart = (time: string | null, parts: readonly ContentBlock[]): Answer => {
    if (answer === null) {
      answer = { id: null, time, model, content: [] };
      messages.push(answerMessage(answer));
    }
    answer.content.push(...parts);
    return answer;
  };
  const takeItem = (item: Fields, time: string | null): void => {
    const type = textIn(item["type"]) ?? "";
    const id = textIn(item["id"]);
    if (type === "message" && item["role"] === "user") {
      const content = wordsIn(item);
      if (content.length > 0) add(id, time, { role: "user", content });
    } else if (type === "message" && item["role"] === "assistant") {
      const content = listIn(item["content"]).flatMap(contentOf);
      if (content.length === 0) return;
      // Two texts are two answers; a thought before or a call after belongs to its text.
      if (answer?.content.some((block) => block.type !== "thinking") === true) answer = null;
      addPart(time, content).id = id;
      messages[messages.length - 1] = answerMessage(answer ?? addPart(time, []));
    } else if (type === "reasoning") {
      const thinking = listIn(item["summary"]).map((part) => textIn(part["text"]) ?? "");
      if (answer?.content.some((block) => block.type !== "thinking") === true) answer = null;
      if (thinking.some((text) => text !== ""))
        addPart(time, [{ type: "thinking", thinking: thinking.join("\n\n") }]);
    } else if (CALLS.has(type)) {
      const call = callOf(item);
      if (call === null) return;
      tools.set(call.id, call.name);
      addPart(time, [call]);
    } else if (OUTPUTS.has(type)) {
      const toolCallId = textIn(item["call_id"]) ?? "";
      const toolName = tools.get(toolCallId);
      const content = outputOf(item["output"]);
      add(id, time, {
        role: "toolResult",
        toolCallId,
        ...(toolName === undefined ? {} : { toolName }),
        content,
      });
    }
  };

  return {
    take: (record) => {
      const payload = fieldsIn(record["payload"]) ?? {};
      const type = record["type"];
      if (type === "response_item") takeItem(payload, textIn(record["timestamp"]));
      if (type === "turn_context") model = textIn(payload["model"]) ?? model;
      if (type === "event_msg" && payload["type"] === "thread_rolled_back") {
        answer = null;
        rollBack(messages, countIn(payload["num_turns"]) ?? 0);
      }
    },
    messages: () => messages,
  };
}

/** The content is shared with the answer, so what is added to the one is in the other. */
function answerMessage({ id, time, model, content }: Answer): NativeMessage {
  return { id, time, message: { role: "assistant", content, ...(model === null ? {} : { model }) } };
}

/** Takes the last turns back; a turn begins with what the user said. */
function rollBack(messages: NativeMessage[], turns: number): void {
  for (let left = turns; left > 0; left--) {
    const start = messages.findLastIndex(({ message }) => message.role === "user");
    messages.length = Math.max(start, 0);
  }
}

function wordsIn(item: Fields): readonly ContentBlock[] {
  const told = fieldsIn(item["internal_chat_message_metadata_passthrough"])?.["content_item_kinds"];
  const kinds = Array.isArray(told) ? (told as readonly Json[]) : null;
  return listIn(item["content"]).flatMap((part, n) => {
    const kind = textIn(kinds?.[n]);
    if (kind !== null && kind !== "unknown") return kind.startsWith("user.") ? contentOf(part) : [];
    return contentOf(part).filter((block) => block.type !== "text" || !WRAPPED.test(block.text));
  });
}

function contentOf(part: Fields): readonly ContentBlock[] {
  const text = textIn(part["text"]);
  if (text !== null) return text === "" ? [] : [{ type: "text", text }];
  const image = /^data:([^;,]+);base64,(.*)$/s.exec(textIn(part["image_url"]) ?? "");
  const [, mediaType, data] = image ?? [];
  return mediaType === undefined || data === undefined ? [] : [{ type: "image", mediaType, data }];
}

function callOf(item: Fields): Extract<ContentBlock, { type: "toolCall" }> | null {
  const id = textIn(item["call_id"]);
  const name = textIn(item["name"]) ?? (item["type"] === "local_shell_call" ? "local_shell" : null);
  if (id === null || name === null) return null;
  return { type: "toolCall", id, name, input: inputOf(item) };
}

function inputOf(item: Fields): Json {
  const given = item["arguments"] ?? item["input"] ?? item["action"] ?? {};
  if (item["type"] !== "function_call" || typeof given !== "string") return given;
  try {
    return JSON.parse(given) as Json;
  } catch {
    // Cut short by a limit; the text is all there is.
    return given;
  }
}

function outputOf(output: Json | undefined): readonly ContentBlock[] {
  const text = textIn(output) ?? textIn(fieldsIn(output)?.["content"]);
  if (text !== null) return text === "" ? [] : [{ type: "text", text }];
  return listIn(output).flatMap(contentOf);
}
