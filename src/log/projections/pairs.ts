import type { ContentBlock, Message, Role, ToolCall } from "#log/message";
import type { EntryId } from "#log/ids";
import type { Issue } from "./issues.ts";

/** A message as a model is sent it. `entryId` is null for one that only exists in the projection. */
export interface ContextMessage {
  readonly role: Role;
  readonly content: readonly ContentBlock[];
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly isError?: boolean;
  /** Who said it, where the message names a model. */
  readonly model?: string;
  /** A compaction came between: other words stand before its thinking now than those it followed. */
  readonly staleThinking?: true;
  readonly entryId: EntryId | null;
}

/** The same as a message of the log. */
export function asMessage({ role, content, ...result }: ContextMessage): Message {
  const { toolCallId = "", toolName, isError } = result;
  if (role !== "toolResult") return { role, content };
  const name = toolName === undefined ? {} : { toolName };
  return { role, content, toolCallId, ...name, ...(isError === undefined ? {} : { isError }) };
}

/** What models read about a call without a result: as a line of a list, and in place of its result. */
export const OUTCOME_UNKNOWN_CLAUSE = "outcome unknown, verify before retrying";
export const OUTCOME_UNKNOWN =
  "Outcome unknown, verify before retrying: no result was recorded for this call, and it may have taken effect.";
export const RESULT_HIDDEN = "This result was hidden.";

/**
 * Gives every tool call exactly one result, right behind it and in the order of the calls. Takes messages newest first and
 * hands on what they make, newest first as well; what it holds are the results whose call is still to come.
 */
export class PairReader {
  readonly #keep: (message: ContextMessage) => unknown;
  readonly #results = new Map<string, Result[]>();
  readonly #strays: (Issue & { readonly index: number })[] = [];
  readonly #orphans: Issue[] = [];
  #added: number = 0;

  constructor(keep: (message: ContextMessage) => unknown) {
    this.#keep = keep;
  }

  /** `hidden`: a hidden result keeps its place, so that its call still has one. */
  add(message: ContextMessage, hidden: boolean = false): void {
    const index = this.#added++;
    if (message.role === "toolResult") {
      const call = message.toolCallId ?? "";
      const results = this.#results.get(call);
      if (results === undefined) this.#results.set(call, [{ message, hidden, index }]);
      else results.push({ message, hidden, index });
      return;
    }
    if (message.role === "assistant") this.#answer(message);
    this.#keep(message);
  }

  #answer({ content, entryId }: ContextMessage): void {
    if (!content.some(isToolCall)) return;
    const calls = content.filter(isToolCall);
    const results = calls.map(({ id }) => this.#results.get(id)?.pop());
    // Providers reuse call ids: a result belongs to the latest call before it, and to no older one.
    for (const { id } of calls) {
      for (const result of this.#results.get(id) ?? []) this.#leaveOut(result, "duplicate_result");
      this.#results.delete(id);
    }
    for (let index = calls.length - 1; index >= 0; index--) {
      const call = calls[index];
      if (call !== undefined) this.#keep(this.#resultFor(call, results[index] ?? null, entryId));
    }
  }

  #leaveOut({ message: result, index }: Result, kind: "duplicate_result" | "orphan_result"): void {
    const { entryId: entry, toolCallId } = result;
    const why = kind === "duplicate_result" ? "already has a result" : "is not part of this context";
    const message = `Skipped a result for tool call ${toolCallId}: the call ${why}`;
    this.#strays.push({ kind, entry, message, index });
  }

  #resultFor(call: ToolCall, result: Result | null, calledBy: EntryId | null): ContextMessage {
    if (result !== null && !result.hidden) return result.message;
    if (result === null)
      this.#orphans.push({
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

  /** What did not fit together, in the order of the log; nothing is taken after it. */
  issues(): readonly Issue[] {
    for (const results of this.#results.values())
      for (const result of results) this.#leaveOut(result, "orphan_result");
    this.#results.clear();
    const strays = this.#strays
      .toSorted((one, other) => other.index - one.index)
      .map(({ index: _, ...issue }) => issue);
    return [...strays, ...this.#orphans.toReversed()];
  }
}

interface Result {
  readonly message: ContextMessage;
  readonly hidden: boolean;
  readonly index: number;
}

function isToolCall(block: ContentBlock): block is ToolCall {
  return block.type === "toolCall";
}
/** The user's first message where the log has none: most chat products greet before anybody has said a word. */
export const ASSISTANT_FIRST = {
  role: "user",
  content: [{ type: "text", text: "(The assistant started the conversation.)" }],
} as const;

/** The messages of a request: services refuse one that begins with the assistant, and with it the whole conversation. */
export function openedByUser<M extends { readonly role: string }>(
  messages: readonly M[],
  opening: M,
): readonly M[] {
  return messages[0]?.role === "assistant" ? [opening, ...messages] : messages;
}
