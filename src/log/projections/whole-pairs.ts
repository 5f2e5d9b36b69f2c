import type { AssistantMessage, ContentBlock, Message, ToolCall, ToolResultMessage } from "#log/message";
import { OUTCOME_UNKNOWN } from "./pairs.ts";

/** A part of a list of messages that did not fit, and how it was repaired. */
export interface Repair {
  readonly kind: "orphan_result" | "duplicate_result" | "missing_result" | "moved_result" | "renamed_call";
  /** The call that is concerned, by the id it came with. */
  readonly call: string;
  /** Its place in the list that was given, from 0. */
  readonly at: number;
  readonly message: string;
}

/** A list of messages in which every call has one result, right behind it and in the order of the calls. */
export interface WholePairs {
  readonly messages: readonly Message[];
  readonly repairs: readonly Repair[];
}

/**
 * Mends a list that was kept elsewhere, before it becomes part of a log: a result belongs to the latest call of its id before
 * it. One without a call, and a second one, are left out; a call without one gets a result that says that nobody knows. The
 * same list gives the same, and a whole one is left as it is.
 */
export function wholePairs(messages: readonly Message[]): WholePairs {
  const made: Message[] = [];
  const repairs: Repair[] = [];
  const owners = resultOwners(messages);
  const taken = new Set<number>();
  for (const [index, message] of messages.entries()) {
    if (message.role === "toolResult") {
      if (!taken.has(index)) repairs.push(leftOut(message, index, owners.has(index)));
      continue;
    }
    if (message.role === "user") {
      made.push(message);
      continue;
    }
    const { named, calls } = ownNames(message, index, repairs);
    made.push(named);
    const results = messages.flatMap((one, place) =>
      one.role === "toolResult" && owners.get(place) === index ? [{ one, place }] : [],
    );
    for (const { id, original: originalId, name } of calls) {
      const result = results.find(({ one, place }) => one.toolCallId === originalId && !taken.has(place));
      if (result === undefined) {
        repairs.push(unanswered(originalId, name, index));
        made.push(unknownResult(id, name));
        continue;
      }
      taken.add(result.place);
      const between = messages.slice(index + 1, result.place);
      if (between.some(({ role }) => role !== "toolResult")) repairs.push(moved(originalId, result.place));
      made.push(id === originalId ? result.one : { ...result.one, toolCallId: id });
    }
  }
  return { messages: made, repairs };
}

/** Which answer each result belongs to, by their places; none for a result whose call does not stand before it. */
function resultOwners(messages: readonly Message[]): ReadonlyMap<number, number> {
  const latest = new Map<string, number>();
  const owners = new Map<number, number>();
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant") for (const { id } of callsOf(message.content)) latest.set(id, index);
    const owner = message.role === "toolResult" ? latest.get(message.toolCallId) : undefined;
    if (owner !== undefined) owners.set(index, owner);
  }
  return owners;
}

function callsOf(content: readonly ContentBlock[]): readonly ToolCall[] {
  return content.filter((block) => block.type === "toolCall");
}

interface NamedCall {
  readonly id: string;
  readonly original: string;
  readonly name: string;
}

/** Two calls of one answer with the same id: their results could not be assigned. */
function ownNames(
  message: AssistantMessage,
  index: number,
  repairs: Repair[],
): { readonly named: AssistantMessage; readonly calls: readonly NamedCall[] } {
  const originals = callsOf(message.content);
  const used = new Set(originals.map(({ id }) => id));
  if (used.size === originals.length)
    return { named: message, calls: originals.map(({ id, name }) => ({ id, original: id, name })) };
  const seen = new Set<string>();
  const calls: NamedCall[] = [];
  const content = message.content.map((block): ContentBlock => {
    if (block.type !== "toolCall") return block;
    let id = block.id;
    for (let number = 2; seen.has(id) || (id !== block.id && used.has(id)); number++)
      id = `${block.id}_${number}`;
    seen.add(id);
    calls.push({ id, original: block.id, name: block.name });
    if (id !== block.id)
      repairs.push({
        kind: "renamed_call",
        call: block.id,
        at: index,
        message: `Two calls in one reply had the id ${block.id}. The second is now ${id}.`,
      });
    return id === block.id ? block : { ...block, id };
  });
  return { named: { ...message, content }, calls };
}

function leftOut({ toolCallId: call }: ToolResultMessage, index: number, answered: boolean): Repair {
  return answered
    ? {
        kind: "duplicate_result",
        call,
        at: index,
        message: `Skipped a second result for call ${call}`,
      }
    : {
        kind: "orphan_result",
        call,
        at: index,
        message: `Skipped a result: no earlier message has a call ${call}`,
      };
}

function moved(call: string, index: number): Repair {
  return {
    kind: "moved_result",
    call,
    at: index,
    message: `Moved the result of call ${call} directly after the call`,
  };
}

function unanswered(call: string, name: string, index: number): Repair {
  return {
    kind: "missing_result",
    call,
    at: index,
    message: `Call ${call} (${name}) had no result. Added one that says so.`,
  };
}

function unknownResult(toolCallId: string, toolName: string): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId,
    toolName,
    isError: true,
    content: [{ type: "text", text: OUTCOME_UNKNOWN }],
  };
}
