import type { ContentBlock, Message, Role, ToolCall } from "#log/entry";
import type { EntryId } from "#log/ids";
import type { Issue } from "./issue.ts";

/** A message as a model is sent it. `entryId` is null for one that only exists in the projection. */
export interface ContextMessage {
  readonly role: Role;
  readonly content: readonly ContentBlock[];
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly isError?: boolean;
  readonly entryId: EntryId | null;
}

/** The same as a message of the log. */
export function asMessage({ role, content, ...result }: ContextMessage): Message {
  const { toolCallId = "", toolName, isError } = result;
  if (role !== "toolResult") return { role, content };
  const name = toolName === undefined ? {} : { toolName };
  return { role, content, toolCallId, ...name, ...(isError === undefined ? {} : { isError }) };
}

export const OUTCOME_UNKNOWN =
  "Outcome unknown, verify before retrying: no result was recorded for this call, and it may have taken effect.";
export const RESULT_HIDDEN = "This result was hidden.";

export interface PairItem {
  readonly message: ContextMessage;
  /** A hidden result keeps its place, so that its call still has one. */
  readonly hidden: boolean;
}

interface Slot {
  readonly call: ToolCall;
  result: PairItem | null;
}

/** Gives every tool call exactly one result, right behind it and in the order of the calls. */
export function makePairsWhole(items: readonly PairItem[]): {
  readonly messages: readonly ContextMessage[];
  readonly issues: readonly Issue[];
} {
  const issues: Issue[] = [];
  const slotsOf = new Map<PairItem, readonly Slot[]>();
  const open = new Map<string, readonly Slot[]>();
  for (const item of items) {
    const { message } = item;
    if (message.role === "assistant") {
      const slots = message.content.filter(isToolCall).map((call): Slot => ({ call, result: null }));
      slotsOf.set(item, slots);
      // Providers reuse call ids: a result belongs to the latest call before it.
      for (const { call } of slots)
        open.set(
          call.id,
          slots.filter((slot) => slot.call.id === call.id),
        );
    } else if (message.role === "toolResult") {
      const slots = open.get(message.toolCallId ?? "");
      const slot = slots?.find(({ result }) => result === null);
      if (slot !== undefined) slot.result = item;
      else issues.push(strayResult(message, slots !== undefined));
    }
  }
  const messages: ContextMessage[] = [];
  for (const item of items) {
    if (item.message.role === "toolResult") continue;
    messages.push(item.message);
    for (const slot of slotsOf.get(item) ?? []) messages.push(resultFor(slot, item.message.entryId, issues));
  }
  return { messages, issues };
}

function isToolCall(block: ContentBlock): block is ToolCall {
  return block.type === "toolCall";
}

function strayResult(message: ContextMessage, answered: boolean): Issue {
  const kind = answered ? "duplicate_result" : "orphan_result";
  const why = answered ? "was answered before" : "is not in this context";
  return {
    kind,
    entry: message.entryId,
    message: `A result for tool call ${message.toolCallId} was left out: the call ${why}`,
  };
}

function resultFor(slot: Slot, calledBy: EntryId | null, issues: Issue[]): ContextMessage {
  const { call, result } = slot;
  if (result !== null && !result.hidden) return result.message;
  if (result === null)
    issues.push({
      kind: "orphan_call",
      entry: calledBy,
      message: `Tool call ${call.id} (${call.name}) has no recorded result`,
    });
  const text = result === null ? OUTCOME_UNKNOWN : RESULT_HIDDEN;
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    isError: result === null || result.message.isError === true,
    content: [{ type: "text", text }],
    entryId: null,
  };
}
