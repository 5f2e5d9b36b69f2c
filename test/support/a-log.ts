import type { EntryBody } from "#log/entry";
import type { ContentBlock } from "#log/message";
import { Holdfast } from "#conversation/holdfast";
import type { Conversation } from "#conversation/conversation";
import type { IdsAndTime } from "#store/prepare";
import { inMemoryStore } from "#stores/in-memory/index";

/** Ids and times that count up, so that expectations can be written down. */
export function countingIdsAndTime(): IdsAndTime {
  let made = 0;
  return {
    now: () => new Date(Date.UTC(2026, 0, 1) + ++made * 1_000).toISOString(),
    newId: () => `g${++made}`,
  };
}

export function user(text: string, id?: string): EntryBody {
  return {
    type: "message",
    ...(id === undefined ? {} : { id }),
    message: { role: "user", content: [{ type: "text", text }] },
  };
}

/** A reply; each further word names a tool call with that id. */
export function assistant(text: string, id?: string, ...calls: readonly string[]): EntryBody {
  const blocks: ContentBlock[] = text === "" ? [] : [{ type: "text", text }];
  for (const call of calls) blocks.push({ type: "toolCall", id: call, name: "tool", input: {} });
  return {
    type: "message",
    ...(id === undefined ? {} : { id }),
    message: { role: "assistant", content: blocks },
  };
}

export function result(call: string, text: string, id?: string): EntryBody {
  return {
    type: "message",
    ...(id === undefined ? {} : { id }),
    message: { role: "toolResult", toolCallId: call, toolName: "tool", content: [{ type: "text", text }] },
  };
}

/** A conversation in memory that holds these bodies. */
export async function aConversation(...bodies: readonly (EntryBody | string)[]): Promise<Conversation> {
  const holdfast = new Holdfast(inMemoryStore(), "default", countingIdsAndTime());
  const conversation = await holdfast.create({ id: "c" });
  if (bodies.length > 0) await conversation.append(bodies);
  return conversation;
}

/** A context in short: `role:text`, tool calls as `name#id`. */
export async function contextOf(conversation: Conversation, at?: string): Promise<readonly string[]> {
  const { messages } = await conversation.context(at === undefined ? {} : { at });
  return messages.map((message) => {
    const words = message.content.map((block) =>
      block.type === "text" ? block.text : block.type === "toolCall" ? `#${block.id}` : block.type,
    );
    return `${message.role}:${words.join(" ")}${message.toolCallId === undefined ? "" : `@${message.toolCallId}`}`;
  });
}
