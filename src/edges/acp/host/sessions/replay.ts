import type { AssistantMessage, Entry, Message } from "#log/entry";
import type { Json } from "#log/json/json-text";
import { OUTCOME_UNKNOWN } from "#log/projections/pairs";
import { acpBlock } from "./blocks.ts";
import { fieldsOf, listIn } from "#log/json/json-fields";

type Fields = { readonly [name: string]: Json };
type Shown = Entry & { readonly hidden: boolean };

/** A branch as updates a host can show: what was said, and each tool with what really came of it. */
export function* replayOf(branch: readonly Shown[]): Generator<Fields> {
  const results = new Map<string, Extract<Message, { role: "toolResult" }>>();
  for (const entry of branch)
    if (entry.type === "message" && entry.message.role === "toolResult" && !entry.hidden)
      results.set(entry.message.toolCallId, entry.message);
  for (const entry of branch) {
    if (entry.hidden || entry.type !== "message" || entry.internal === true) continue;
    const { message, id } = entry;
    if (message.internal === true || message.role === "toolResult") continue;
    if (message.role === "user") yield* userChunks(message, id);
    else yield* replyChunks(message, id, results);
  }
}

function* userChunks(message: Message, messageId: string): Generator<Fields> {
  const exact = fieldsOf(fieldsOf(message.details)["acp"])["prompt"];
  const blocks = Array.isArray(exact) ? listIn(exact) : message.content.map((block) => acpBlock(block));
  for (const content of blocks)
    if (content !== null) yield { sessionUpdate: "user_message_chunk", content, messageId };
}

function* replyChunks(
  message: AssistantMessage,
  id: string,
  results: ReadonlyMap<string, Extract<Message, { role: "toolResult" }>>,
): Generator<Fields> {
  const { messages, tools } = fieldsOf(message.details);
  const [own] = Array.isArray(messages) ? (messages as readonly Json[]) : [];
  const messageId = typeof own === "string" ? own : id;
  const cutOff = message.stopReason === "interrupted" || message.stopReason === "failed";
  const mark = cutOff ? { _meta: { holdfast: { [message.stopReason ?? ""]: true } } } : {};
  for (const block of message.content) {
    if (block.type === "toolCall") {
      yield toolCall(block, fieldsOf(fieldsOf(tools)[block.id]), results.get(block.id) ?? null);
      continue;
    }
    const content = acpBlock(block);
    const kind = block.type === "thinking" ? "agent_thought_chunk" : "agent_message_chunk";
    if (content !== null) yield { sessionUpdate: kind, content, messageId, ...mark };
  }
}

function toolCall(
  call: { readonly id: string; readonly name: string; readonly input: Json },
  told: Fields,
  result: Extract<Message, { role: "toolResult" }> | null,
): Fields {
  const words = result === null ? OUTCOME_UNKNOWN : textOf(result);
  const said = words === "" ? [] : [{ type: "content", content: { type: "text", text: words } }];
  // A terminal lives no longer than the agent that opened it; a host drops what names one it does not know.
  const kept = listIn(told["content"] ?? null).filter((part) => part["type"] !== "terminal");
  const { title = call.name, kind, locations, rawOutput } = told;
  const more = Object.entries({ kind, locations, rawOutput }).filter(([, value]) => value !== undefined);
  return {
    sessionUpdate: "tool_call",
    toolCallId: call.id,
    title,
    rawInput: call.input,
    status: result === null || result.isError === true ? "failed" : "completed",
    content: result !== null && kept.length > 0 ? kept : said,
    ...Object.fromEntries(more as [string, Json][]),
    ...(result === null ? { _meta: { holdfast: { outcome: "unknown" } } } : {}),
  };
}

function textOf(message: Message): string {
  return message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
}
