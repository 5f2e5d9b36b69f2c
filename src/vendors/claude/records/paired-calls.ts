import type { Message, ToolCall } from "#log/message";

type ToolResult = Extract<Message, { role: "toolResult" }>;

/** A call as it goes into a transcript: under an id the model's API takes, with the one result it has. */
export interface PairedCall {
  readonly id: string;
  result: ToolResult | null;
}

/** The pair of every call in the messages. A result without a call is in no pair: the API would refuse it. */
export function pairCalls(
  messages: readonly Message[],
  newId: () => string,
): ReadonlyMap<ToolCall, PairedCall> {
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [],
  );
  const all = new Set(calls.map((call) => call.id));
  const used = new Set<string>();
  const pairs = new Map<ToolCall, PairedCall>();
  const latest = new Map<string, PairedCall>();
  for (const message of messages) {
    if (message.role === "toolResult") {
      // The last word on a call counts: an earlier one may have been a stand-in.
      const pair = latest.get(message.toolCallId);
      if (pair !== undefined) pair.result = message;
    }
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const kept = !used.has(block.id) && isApiId(block.id) && !isCopyOf(block.id, all);
      const pair: PairedCall = {
        id: kept ? block.id : `toolu_x${newId().replaceAll("-", "")}`,
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

export function apiName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 128) || "tool";
}
