import type { ContentBlock, EntryBody, Usage } from "../entry.ts";
import type { Json } from "../json-text.ts";

/** What an upstream says while it works on a prompt, in the order of the wire. */
export type UpstreamEvent =
  /** `message`: the agent's own id of the message the text belongs to, where it has one. */
  (
    | { readonly type: "text" | "thinking"; readonly text: string; readonly message?: string }
    | {
        readonly type: "tool";
        readonly call: string;
        readonly name: string;
        readonly input: Json;
        readonly state: "started" | "done" | "failed";
        readonly output?: string;
        /** What else the agent said of the call this time: its title, places, changes to files. */
        readonly detail?: JsonObject;
      }
    | { readonly type: "plan"; readonly data: Json }
    /** A person was asked whether a call may go on, or answered. */
    | { readonly type: "permission"; readonly call?: string; readonly data: Json }
    /** Anything else it said that is worth keeping. */
    | { readonly type: "told"; readonly data: Json }
    /** Something the host is handed that is no part of the conversation. */
    | { readonly type: "passed" }
    | { readonly type: "session"; readonly id: string }
    | { readonly type: "usage"; readonly usage: Usage }
  ) & {
    /** The message as it came, for an edge that passes it on; never recorded. */
    readonly wire?: unknown;
  };

type JsonObject = { readonly [name: string]: Json };

interface Draft {
  readonly content: ContentBlock[];
  /** The agent's ids of the messages the text is from. */
  readonly messages: Set<string>;
  readonly tools: Map<string, JsonObject>;
  /** By the call they answer. */
  readonly results: Map<string, EntryBody>;
}

/**
 * The nodes a turn leaves: replies with their tool calls, each followed by its results in the order of the calls. Used
 * at a turn's end and, from the recorded updates, when a turn was cut off; so what is kept does not depend on how it
 * ended.
 */
export function turnMessages(
  events: Iterable<UpstreamEvent>,
  more: { readonly model: string | null; readonly stopReason: string },
): readonly EntryBody[] {
  const drafts: Draft[] = [];
  let usage: Usage | undefined;
  for (const event of events) {
    if (event.type === "usage") usage = event.usage;
    else if (event.type === "tool") takeTool(drafts, event);
    else if (event.type === "text" || event.type === "thinking") takeText(openDraft(drafts), event);
  }
  const model = more.model === null ? {} : { model: more.model };
  const last = drafts.at(-1);
  const messages: EntryBody[] = [];
  for (const draft of drafts) {
    const used = usage === undefined ? {} : { usage };
    const end = draft === last ? { stopReason: more.stopReason, ...used } : { stopReason: "toolUse" };
    messages.push({
      type: "message",
      message: { role: "assistant", content: draft.content, ...model, ...end, ...detailsOf(draft) },
    });
    for (const block of draft.content) {
      const result = block.type === "toolCall" ? draft.results.get(block.id) : undefined;
      if (result !== undefined) messages.push(result);
    }
  }
  return messages;
}

/** What follows a result is another message. */
function openDraft(drafts: Draft[]): Draft {
  const last = drafts.at(-1);
  if (last !== undefined && last.results.size === 0) return last;
  const draft: Draft = { content: [], messages: new Set(), tools: new Map(), results: new Map() };
  drafts.push(draft);
  return draft;
}

/** Kept for those who show or find the message again; never sent to a model. */
function detailsOf(draft: Draft): { readonly details?: Json } {
  const messages = draft.messages.size === 0 ? {} : { messages: [...draft.messages] };
  const tools = draft.tools.size === 0 ? {} : { tools: Object.fromEntries(draft.tools) };
  return draft.messages.size + draft.tools.size === 0 ? {} : { details: { ...messages, ...tools } };
}

function takeText(draft: Draft, event: Extract<UpstreamEvent, { type: "text" | "thinking" }>): void {
  if (event.message !== undefined) draft.messages.add(event.message);
  addBlock(draft.content, blockOf(event));
}

/** A call may be told of several times, each time with more of its input, or only when it is over. */
function takeTool(drafts: Draft[], event: Extract<UpstreamEvent, { type: "tool" }>): void {
  const known = drafts.findLast(({ content }) => content.some((block) => isCall(block, event.call)));
  const draft = known ?? openDraft(drafts);
  const at = draft.content.findIndex((block) => isCall(block, event.call));
  draft.content[at === -1 ? draft.content.length : at] = blockOf(event);
  if (event.detail !== undefined)
    draft.tools.set(event.call, { ...draft.tools.get(event.call), ...event.detail });
  if (event.state !== "started") draft.results.set(event.call, resultBody(event));
}

function isCall(block: ContentBlock, call: string): boolean {
  return block.type === "toolCall" && block.id === call;
}

type Said = Extract<UpstreamEvent, { type: "text" | "thinking" | "tool" }>;

function blockOf(event: Said): ContentBlock {
  if (event.type === "tool")
    return { type: "toolCall", id: event.call, name: event.name, input: event.input };
  return event.type === "text"
    ? { type: "text", text: event.text }
    : { type: "thinking", thinking: event.text };
}

/** Streamed pieces of one text are one text. */
function addBlock(content: ContentBlock[], block: ContentBlock): void {
  const last = content.at(-1);
  if (last?.type === "text" && block.type === "text")
    content[content.length - 1] = { type: "text", text: last.text + block.text };
  else if (last?.type === "thinking" && block.type === "thinking")
    content[content.length - 1] = { type: "thinking", thinking: last.thinking + block.thinking };
  else content.push(block);
}

function resultBody(event: Extract<UpstreamEvent, { type: "tool" }>): EntryBody {
  const content: ContentBlock[] = event.output === undefined ? [] : [{ type: "text", text: event.output }];
  return {
    type: "message",
    message: {
      role: "toolResult",
      toolCallId: event.call,
      toolName: event.name,
      isError: event.state === "failed",
      content,
    },
  };
}

/** The words of a turn, as one text. */
export function turnText(events: Iterable<UpstreamEvent>): string {
  let text = "";
  for (const event of events) if (event.type === "text") text += event.text;
  return text;
}

export function toolStarted(events: Iterable<UpstreamEvent>): boolean {
  for (const event of events) if (event.type === "tool") return true;
  return false;
}

/**
 * What is left of an attempt that failed: some agents say their error as if it were an answer before they report it,
 * and such words must not stand in the history as one.
 */
export function withoutErrorText(
  events: readonly UpstreamEvent[],
  message: string,
): readonly UpstreamEvent[] {
  const last = events.findLastIndex((event) => event.type === "text" && event.text.trim() !== "");
  const end = events[last];
  if (end?.type !== "text" || message.trim() === "") return events;
  let first = last;
  for (let at = last - 1; at >= 0; at--) {
    const event = events[at];
    if (event?.type !== "text") continue;
    if (event.message !== end.message) break;
    first = at;
  }
  const said = turnText(events.slice(first)).trim();
  const same = said.includes(message.trim()) || message.includes(said);
  return same ? events.filter((event, at) => at < first || event.type !== "text") : events;
}
