import { textOfBlocks } from "#log/message";
import type { ContextMessage } from "#log/projections/pairs";

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string }
  | { readonly type: "tool_result"; readonly id: string; readonly text: string };

interface AnthropicMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly Block[];
}

interface OpenAiMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string;
  readonly toolCalls: readonly string[];
  readonly toolCallId: string | null;
}

/** A context as Anthropic is sent it: results are blocks of the user's next turn, neighbours of one role are one. */
function toAnthropic(messages: readonly ContextMessage[]): readonly AnthropicMessage[] {
  const turns: { role: "user" | "assistant"; content: Block[] }[] = [];
  for (const message of messages) {
    const role: "user" | "assistant" = message.role === "assistant" ? "assistant" : "user";
    const last = turns.at(-1);
    const turn: (typeof turns)[number] = last?.role === role ? last : { role, content: [] };
    if (turn !== last) turns.push(turn);
    if (message.role === "toolResult")
      turn.content.push({
        type: "tool_result",
        id: message.toolCallId ?? "",
        text: textOfBlocks(message.content),
      });
    else turn.content.push(...blocksOf(message));
  }
  return turns;
}

function blocksOf(message: ContextMessage): readonly Block[] {
  return message.content.flatMap((block): Block[] => {
    if (block.type === "text") return [{ type: "text", text: block.text }];
    return block.type === "toolCall" ? [{ type: "tool_use", id: block.id }] : [];
  });
}

function toOpenAi(messages: readonly ContextMessage[]): readonly OpenAiMessage[] {
  return messages.map((message) => ({
    role: message.role === "toolResult" ? "tool" : message.role,
    content: textOfBlocks(message.content),
    toolCalls: message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])),
    toolCallId: message.toolCallId ?? null,
  }));
}

/** What Anthropic would refuse. */
function brokenForAnthropic(turns: readonly AnthropicMessage[]): readonly string[] {
  const broken: string[] = [];
  if (turns.length > 0 && turns[0]?.role !== "user") broken.push("the first message is not the user's");
  let calls: readonly string[] = [];
  for (const [at, { role, content }] of turns.entries()) {
    if (turns[at - 1]?.role === role) broken.push(`message ${at}: two turns of the ${role} in a row`);
    if (content.length === 0) broken.push(`message ${at}: empty`);
    if (content.some((block) => block.type === "text" && block.text.trim() === ""))
      broken.push(`message ${at}: a blank text`);
    const results = content.flatMap((block) => (block.type === "tool_result" ? [block.id] : []));
    if (content.slice(0, results.length).some((block) => block.type !== "tool_result"))
      broken.push(`message ${at}: results after other content`);
    if (!same(results, calls))
      broken.push(`message ${at}: results [${results.join(", ")}] for calls [${calls.join(", ")}]`);
    calls = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    if (role === "user" && calls.length > 0) broken.push(`message ${at}: the user calls a tool`);
    if (new Set(calls).size !== calls.length) broken.push(`message ${at}: two calls with one id`);
  }
  if (calls.length > 0) broken.push(`calls [${calls.join(", ")}] without results at the end`);
  return broken;
}

/** What OpenAI would refuse. */
function brokenForOpenAi(messages: readonly OpenAiMessage[]): readonly string[] {
  const broken: string[] = [];
  let open: string[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role === "tool") {
      const id = message.toolCallId ?? "";
      if (!open.includes(id)) broken.push(`message ${at}: a result for ${id}, which is not open`);
      open = open.filter((call) => call !== id);
      continue;
    }
    if (open.length > 0) broken.push(`message ${at}: calls [${open.join(", ")}] were not answered before it`);
    open = [...message.toolCalls];
    if (message.role === "user" && open.length > 0) broken.push(`message ${at}: the user calls a tool`);
    if (message.content.trim() === "" && open.length === 0) broken.push(`message ${at}: empty`);
  }
  if (open.length > 0) broken.push(`calls [${open.join(", ")}] without results at the end`);
  return broken;
}

function same(some: readonly string[], others: readonly string[]): boolean {
  return some.toSorted().join("\n") === others.toSorted().join("\n");
}

/** An answer of thinking alone, which broke off before its first word, is left out of what other models are sent. */
function isSent({ role, content }: ContextMessage): boolean {
  return (
    role !== "assistant" || !content.every(({ type }) => type === "thinking" || type === "redactedThinking")
  );
}

/** What Anthropic or OpenAI would refuse of a context, in words; empty when both would take it. */
export function judgeContext(messages: readonly ContextMessage[]): readonly string[] {
  const sent = messages.filter(isSent);
  return [
    ...brokenForAnthropic(toAnthropic(sent)).map((problem) => `Anthropic: ${problem}`),
    ...brokenForOpenAi(toOpenAi(sent)).map((problem) => `OpenAI: ${problem}`),
  ];
}
