import { type Message, type ToolCall, textOfBlocks } from "#log/message";
import { isSameStretch, type MessageText, type Stretch, stretches } from "./transcript.ts";
import type { NativeMessage } from "#upstream/upstream";
import type { TurnEvent } from "#turn/rules/turn-event";

const LAST_EXCHANGE = 2; // a reply and its prompt
const COMPARED_MESSAGES = 256; // more than one turn ever has; what lies further back is not compared

/**
 * The turns an agent's own record holds after the last one we know of: someone went on in the agent's own program.
 * Null when nothing of ours can be found there, so that nothing can be said. An answer that is still being written, or
 * waits for a tool, is left for the next time.
 *
 * Only the last place where our last exchange stands is looked at: had it to stand further back, what follows could be
 * ours as well, and would be there twice.
 */
export function unseenMessages<M extends { readonly message: Message }>(
  theirs: readonly M[],
  oursNewestFirst: readonly MessageText[],
): readonly M[] | null {
  if (oursNewestFirst[0]?.role !== "assistant") return null;
  const messages = theirs.flatMap(({ message }, at) => messageText(message, at));
  const ours = stretches(oursNewestFirst);
  for (let end = messages.length; end > 0; end--) {
    if (messages[end - 1]?.role !== "assistant" || messages[end]?.role === "assistant") continue;
    const recent = stretches(messages.slice(Math.max(0, end - COMPARED_MESSAGES), end).toReversed());
    if (!ours.slice(0, LAST_EXCHANGE).every((stretch, back) => isSameStretch(recent[back], stretch)))
      continue;
    return isKnown(recent, ours) ? wholeTurns(theirs.slice((messages[end - 1]?.at ?? 0) + 1)) : null;
  }
  return null;
}

/** Compares from the newest back. A prompt that was sent again after it failed may stand there more than once. */
function isKnown(theirs: readonly Stretch[], ours: readonly Stretch[]): boolean {
  const [last, ...older] = ours;
  if (last === undefined) return true;
  if (!isSameStretch(theirs[0], last)) return false;
  if (isKnown(theirs.slice(1), older)) return true;
  return last.role === "user" && isKnown(theirs.slice(2), ours);
}

function messageText(message: Message, at: number): readonly (MessageText & { readonly at: number })[] {
  if (message.role === "toolResult") return [];
  const text = textOfBlocks(message.content);
  return text.trim() === "" ? [] : [{ role: message.role, text, at }];
}

/** From the first new prompt to the last reply that is finished, with the results of its tools. */
function wholeTurns<M extends { readonly message: Message }>(messages: readonly M[]): readonly M[] {
  const first = messages.findIndex(({ message }) => message.role === "user");
  if (first === -1) return [];
  const open = new Set<string>();
  let end = first;
  for (const [at, { message }] of messages.entries()) {
    if (message.role === "toolResult") open.delete(message.toolCallId);
    // Who goes on without a result will not get it any more.
    if (message.role === "user") open.clear();
    for (const block of message.content)
      if (block.type === "toolCall" && message.role === "assistant") open.add(block.id);
    if (message.role === "assistant" && open.size === 0) end = at + 1;
  }
  return messages.slice(first, end);
}

/** What is known of a prompt, to be compared with the agent's record of it. */
export interface PromptRecord {
  /** The last words of the prompt. */
  readonly prompt: string;
  isKnown(call: Pick<ToolCall, "id" | "name" | "input">): boolean;
  /** The words that came; null when the agent's words are not wanted. */
  readonly text: string | null;
}

/**
 * What an agent has on record for a prompt and did not live, or was not let, to tell. An agent may tell of a command
 * only after it has begun it: who did not look here would take the prompt for untouched, and have it run once more.
 */
export function unrecordedEvents(
  record: readonly Pick<NativeMessage, "message" | "cutOff" | "notRun">[],
  known: PromptRecord,
): readonly TurnEvent[] {
  const { prompt: promptText } = known;
  const start = record.findLastIndex(({ message }) => message.role === "user");
  const prompt = record[start];
  // Otherwise the prompt did not get as far as the record, and what follows there was told long ago.
  if (prompt === undefined || !textOfBlocks(prompt.message.content).trimEnd().endsWith(promptText.trimEnd()))
    return [];
  const answers = record.slice(start + 1);
  const ends = new Map(answers.flatMap((native) => endOf(native)));
  let text = known.text;
  return answers.flatMap(({ message }) =>
    message.content.flatMap((block): readonly TurnEvent[] => {
      if (block.type === "text" && message.role === "assistant" && text !== null) {
        const [rest, more] = beyond(text, block.text);
        text = rest;
        return more.trim() === "" ? [] : [{ type: "text", text: more }];
      }
      return block.type !== "toolCall" || known.isKnown(block) ? [] : callEvents(block, ends.get(block.id));
    }),
  );
}

/** What is left of the words that were heard, and what a text says beyond them; null once the two have parted. */
function beyond(received: string, text: string): readonly [string | null, string] {
  if (received.startsWith(text)) return [received.slice(text.length), ""];
  return text.startsWith(received) ? ["", text.slice(received.length)] : [null, ""];
}

type ToolEnd = Pick<Extract<TurnEvent, { type: "tool" }>, "state" | "output" | "details">;

/** How a call ended, by its id; nothing where nobody knows. */
function endOf({
  message,
  cutOff,
  notRun,
}: Pick<NativeMessage, "message" | "cutOff" | "notRun">): readonly (readonly [string, ToolEnd])[] {
  if (message.role !== "toolResult" || cutOff === true) return [];
  const state = message.isError === true || notRun === true ? "failed" : "done";
  const details = notRun === true ? { details: { notRun: true } } : {};
  return [[message.toolCallId, { state, output: textOfBlocks(message.content), ...details }]];
}

function callEvents(block: ToolCall, end: ToolEnd | undefined): readonly TurnEvent[] {
  const call = { type: "tool", call: block.id, name: block.name, input: block.input } as const;
  const started = { ...call, state: "started" } as const;
  return end === undefined ? [started] : [started, { ...call, ...end }];
}
