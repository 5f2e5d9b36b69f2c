import { type Fields, fieldsOf, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { PermissionAsked } from "#turn/host";
import type { TurnEvent } from "#turn/rules/turn-event";
import type { ContentBlock } from "#log/message";

/** What a host shows of a call besides its name and input: a title, its kind, places, changes to files. */
export type Describe = (call: { readonly name: string; readonly input: Json }) => Fields;

export const nothingMore: Describe = () => ({});

/** The events of one turn as updates a host can show. */
export class EventUpdates {
  readonly #describe: Describe;
  readonly #calls = new Set<string>();

  constructor(describe: Describe = nothingMore) {
    this.#describe = describe;
  }

  /** Null for an event that is nothing to show. */
  updateOf(event: TurnEvent): Fields | null {
    if (event.type === "tool") return this.#tool(event);
    if (event.type !== "text" && event.type !== "thinking") return null;
    const sessionUpdate = event.type === "text" ? "agent_message_chunk" : "agent_thought_chunk";
    const named = event.message === undefined ? {} : { messageId: event.message };
    return { sessionUpdate, content: { type: "text", text: event.text }, ...named };
  }

  /** A call that waits for a person. */
  pendingCall({ call, tool, input }: PermissionAsked): Fields {
    return {
      sessionUpdate: this.#kindOf(call),
      toolCallId: call,
      title: tool,
      rawInput: input,
      ...this.#describe({ name: tool, input }),
      status: "pending",
    };
  }

  #kindOf(toolCallId: string): "tool_call" | "tool_call_update" {
    const isKnown = this.#calls.has(toolCallId);
    this.#calls.add(toolCallId);
    return isKnown ? "tool_call_update" : "tool_call";
  }

  #tool(event: Extract<TurnEvent, { type: "tool" }>): Fields {
    const { call, step, name, input, state, output, detail = {} } = event;
    const toolCallId = step === undefined ? call : `${call}/${step}`;
    const { content: change, ...described } = this.#describe({ name, input });
    const resultContent =
      output === undefined ? [] : [{ type: "content", content: { type: "text", text: output } }];
    const content = change !== undefined && state !== "failed" ? change : resultContent;
    const status = { started: "in_progress", done: "completed", failed: "failed" }[state];
    return {
      sessionUpdate: this.#kindOf(toolCallId),
      toolCallId,
      title: name,
      rawInput: input,
      ...described,
      ...(Array.isArray(content) && content.length === 0 ? {} : { content }),
      ...detail,
      status,
    };
  }
}

/** A host's content as the log stores it: text and images; of other blocks, a line for readers. */
export function contentOf(blocks: readonly Json[]): readonly ContentBlock[] {
  return blocks.map((block) => blockOf(fieldsOf(block)));
}

function blockOf(block: Fields): ContentBlock {
  const { type, text, data, mimeType } = block;
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if (type === "image" && typeof data === "string" && typeof mimeType === "string" && mimeType !== "")
    return { type: "image", mediaType: mimeType, data };
  return { type: "text", text: linkText(block) };
}

function linkText(block: Fields): string {
  const { type, uri, name } = block;
  if (type === "resource_link") return `[${wordsIn(name ?? uri)}](${wordsIn(uri)})`;
  const resource = fieldsOf(block["resource"]);
  if (type !== "resource") return `[${wordsIn(type)}]`;
  const text = resource["text"];
  return typeof text === "string" ? `${wordsIn(resource["uri"])}\n${text}` : `[${wordsIn(resource["uri"])}]`;
}

/** Whether the blocks can be rebuilt from the log. */
export function isPlain(blocks: readonly Json[]): boolean {
  return blocks.every((value) => {
    const block = fieldsOf(value);
    const names = Object.keys(block).toSorted().join();
    const stored = blockOf(block);
    return stored.type === "text"
      ? block["type"] === "text" && names === "text,type"
      : names === "data,mimeType,type";
  });
}

/** Where a block of a host holds base64: an image or a sound, or a file that was mentioned. */
type Place = { readonly in: Fields; put(data: Json): Fields };

function placesOf(block: Fields): Place | null {
  if ("data" in block) return { in: block, put: (data) => ({ ...block, data }) };
  const resource = fieldsOf(block["resource"] ?? null);
  if (!("blob" in resource)) return null;
  const { blob, ...rest } = resource;
  return { in: { data: blob ?? null }, put: (data) => ({ ...block, resource: { ...rest, blob: data } }) };
}

/** The blocks with every base64 text kept as a blob, which the content names too: it is there once. */
export async function withoutData(
  blocks: readonly Json[],
  keep: (base64: string) => Promise<string | null>,
): Promise<readonly Json[]> {
  return Promise.all(
    blocks.map(async (value) => {
      const place = placesOf(fieldsOf(value));
      const data = place?.in["data"];
      const blob = typeof data === "string" ? await keep(data) : null;
      return place === null || blob === null ? value : place.put({ blob });
    }),
  );
}

/** An update with blobs in place of their names; missing blobs are left out. */
export async function withData(update: Fields, read: (blob: string) => Promise<string>): Promise<Fields> {
  const content = fieldsOf(update["content"] ?? null);
  const place = placesOf(content);
  const { blob } = fieldsOf(place?.in["data"] ?? null);
  if (place === null || typeof blob !== "string") return update;
  return { ...update, content: place.put(await read(blob).catch(() => "")) };
}

/** A block of the log as a host understands it; null for one it has no word for. */
export function acpBlock(block: ContentBlock): Fields | null {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "thinking") return { type: "text", text: block.thinking };
  if (block.type === "image" && block.data !== undefined)
    return { type: "image", data: block.data, mimeType: block.mediaType };
  if (block.type === "image" && block.blob !== undefined)
    return { type: "image", data: { blob: block.blob }, mimeType: block.mediaType };
  return null;
}
