import type { Message, ToolCall } from "../../../../log/entry.ts";

export type ToolResult = Extract<Message, { role: "toolResult" }>;

/** A call as it goes into a transcript: under an id the model's API takes, with the one result it has. */
export interface PairedCall {
  readonly id: string;
  result: ToolResult | null;
}

/** The pair of every call in the messages. A result without a call is in no pair: the API would refuse it. */
export function pairCalls(messages: readonly Message[]): ReadonlyMap<ToolCall, PairedCall> {
  const pairs = new Map<ToolCall, PairedCall>();
  const latest = new Map<string, PairedCall>();
  const taken = new Set<string>();
  for (const message of messages) {
    if (message.role === "toolResult") {
      // The last word on a call counts: an earlier one may have been a stand-in.
      const pair = latest.get(message.toolCallId);
      if (pair !== undefined) pair.result = message;
    }
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const pair: PairedCall = { id: freeId(block.id, taken), result: null };
      taken.add(pair.id);
      latest.set(block.id, pair);
      pairs.set(block, pair);
    }
  }
  return pairs;
}

/** Ids of other agents may hold characters the API refuses, and may come again in a later session. */
function freeId(id: string, taken: ReadonlySet<string>): string {
  const clean = id.replaceAll(/[^a-zA-Z0-9_-]/g, "_") || "call";
  if (!taken.has(clean)) return clean;
  // The count goes on from all ids taken, so that many equal ones do not make a search of it.
  for (let n = taken.size; ; n++) if (!taken.has(`${clean}_${n}`)) return `${clean}_${n}`;
}

export function apiName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 128) || "tool";
}
