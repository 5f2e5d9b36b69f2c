import type { ContentBlock, EntryBody, Usage } from "../entry.ts";
import type { Json } from "../json-text.ts";

/** What an upstream says while it works on a prompt, in the order of the wire. */
export type UpstreamEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | {
      readonly type: "tool";
      readonly call: string;
      readonly name: string;
      readonly input: Json;
      readonly state: "started" | "done" | "failed";
      readonly output?: string;
    }
  | { readonly type: "session"; readonly id: string }
  | { readonly type: "usage"; readonly usage: Usage };

interface Draft {
  readonly content: ContentBlock[];
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
    else if (event.type !== "session") addBlock(openDraft(drafts).content, blockOf(event));
  }
  const model = more.model === null ? {} : { model: more.model };
  const last = drafts.at(-1);
  const messages: EntryBody[] = [];
  for (const draft of drafts) {
    const used = usage === undefined ? {} : { usage };
    const end = draft === last ? { stopReason: more.stopReason, ...used } : { stopReason: "toolUse" };
    messages.push({
      type: "message",
      message: { role: "assistant", content: draft.content, ...model, ...end },
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
  const draft: Draft = { content: [], results: new Map() };
  drafts.push(draft);
  return draft;
}

/** A call may be told of several times, each time with more of its input, or only when it is over. */
function takeTool(drafts: Draft[], event: Extract<UpstreamEvent, { type: "tool" }>): void {
  const known = drafts.findLast(({ content }) => content.some((block) => isCall(block, event.call)));
  const draft = known ?? openDraft(drafts);
  const at = draft.content.findIndex((block) => isCall(block, event.call));
  draft.content[at === -1 ? draft.content.length : at] = blockOf(event);
  if (event.state !== "started") draft.results.set(event.call, resultBody(event));
}

function isCall(block: ContentBlock, call: string): boolean {
  return block.type === "toolCall" && block.id === call;
}

type Said = Extract<UpstreamEvent, { type: "text" | "thinking" | "tool" }>;

function blockOf(event: Said): ContentBlock {
  if (event.type === "text") return { type: "text", text: event.text };
  if (event.type === "thinking") return { type: "thinking", thinking: event.text };
  return { type: "toolCall", id: event.call, name: event.name, input: event.input };
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
