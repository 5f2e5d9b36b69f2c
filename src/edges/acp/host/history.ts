import { LogError } from "#log/errors";
import { setImmediate as nextTick } from "node:timers/promises";
import { type BranchEnd, branchPages, sharedDepth } from "#conversation/branch-pages";
import { readBase64 } from "#conversation/image-blobs";
import type { Json } from "#log/json/json-text";
import type { Leaf, Place } from "#log/lineage/head";
import type { ConversationId } from "#log/ids";
import type { BridgeContext } from "./open-conversations.ts";
import { type Describe, acpBlock, contentOf, nothingMore, withData } from "./updates.ts";
import type { Entry, EntryOf } from "#log/entry";
import { type AssistantMessage, type Message, textOfBlocks, detailsOf, isInternal } from "#log/message";
import { OUTCOME_UNKNOWN } from "#log/projections/pairs";
import { type Fields, fieldsOf, listIn, wordsIn } from "#log/json/json-fields";
import type { OpenAIMessageLike } from "#transfer/messages/openai";
import { type Repair, wholePairs } from "#log/projections/whole-pairs";
import { fromOpenAI } from "#transfer/messages/index";

const UPDATES_AT_ONCE = 200; // then the bridge's other work runs, and the host reads

type HistoryBridge = Pick<BridgeContext, "holdfast" | "wire"> & {
  readonly conversations: { readonly isClosed: boolean };
};

/**
 * The branch of a conversation on its way to the host, each entry once, page by page from its beginning: what is held is
 * a page of it, and what the host has not read.
 */
export class HistoryStream {
  readonly #bridge: HistoryBridge;
  readonly #id: ConversationId;
  readonly #replay: Replay;
  /** The end of the shown history. */
  #end: Leaf | null = null;
  #updates: number = 0;

  constructor(bridge: HistoryBridge, id: ConversationId, describe: Describe = nothingMore) {
    this.#replay = new Replay(describe);
    this.#bridge = bridge;
    this.#id = id;
  }

  /** Shows the rest, and returns the seq up to which everything is shown. */
  async show(): Promise<number> {
    const { holdfast } = this.#bridge;
    const id = this.#id;
    const conversation = holdfast.handle(id);
    const { headSeq, leaf } = await conversation.head();
    const before = this.#end;
    if (leaf.id === before?.id) return headSeq;
    this.#end = leaf;
    const branch = (end: Place): BranchEnd => ({ conversation: id, end });
    const from = before === null ? 0 : (await sharedDepth(holdfast, branch(before), branch(leaf))) + 1;
    for await (const page of branchPages(conversation, leaf, from)) {
      await this.#send(this.#replay.add(page));
      if (this.#bridge.conversations.isClosed) return headSeq;
    }
    await this.#send(this.#replay.end());
    return headSeq;
  }

  async #send(updates: Iterable<{ readonly [name: string]: Json }>): Promise<void> {
    const { wire, holdfast } = this.#bridge;
    const id = this.#id;
    const read = (blob: string): Promise<string> => readBase64(holdfast.handle(id), blob);
    for (const update of updates) {
      if (this.#bridge.conversations.isClosed) return;
      wire.update(id, await withData(update, read));
      await wire.resumed();
      if (++this.#updates % UPDATES_AT_ONCE === 0) await nextTick();
    }
  }
}

type BranchEntry = Entry & { readonly hidden: boolean };

type ToolResult = Extract<Message, { role: "toolResult" }>;

const HELD_MESSAGES_MAX = 256; // a reply waits behind no more than these for the results of its tools

interface Calls {
  readonly results: Map<string, ToolResult>;
  /** Calls without a result by now. */
  open: number;
  isShown: boolean;
}

type Waiting =
  | { readonly entry: EntryOf<"message">; readonly message: Message; readonly calls: Calls }
  | { readonly late: ToolResult };

/** A branch as updates for a host: its messages, and each tool call with its real outcome. */
export function* replayOf(branch: readonly BranchEntry[]): Generator<Fields> {
  const replay = new Replay();
  yield* replay.add(branch);
  yield* replay.end();
}

/**
 * The same for a branch that is taken as it is read, oldest first. A tool is shown with its result, which stands right
 * behind it in most logs; one whose result is far off is shown as unknown, and again when the result comes.
 */
export class Replay {
  readonly #describe: Describe;
  #waiting: Waiting[] = [];
  /** The latest call of each id that has no result yet. */
  readonly #open = new Map<string, Calls>();

  constructor(describe: Describe = nothingMore) {
    this.#describe = describe;
  }

  *add(entries: Iterable<BranchEntry>): Generator<Fields> {
    for (const entry of entries) {
      if (entry.hidden || entry.type !== "message") continue;
      const { message } = entry;
      if (message.role === "toolResult") this.#addResult(message);
      else if (!isInternal(entry)) this.#addMessage(entry, message);
    }
    yield* this.#show(HELD_MESSAGES_MAX);
  }

  /** What waits for results is shown without; they are still taken if there is more. */
  *end(): Generator<Fields> {
    yield* this.#show(0);
  }

  #addMessage(entry: EntryOf<"message">, message: Message): void {
    const ids = new Set(message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])));
    const calls: Calls = { results: new Map(), open: ids.size, isShown: false };
    for (const id of ids) this.#open.set(id, calls);
    this.#waiting.push({ entry, message, calls });
  }

  #addResult(result: ToolResult): void {
    const calls = this.#open.get(result.toolCallId);
    if (calls === undefined) return;
    this.#open.delete(result.toolCallId);
    calls.open--;
    if (calls.isShown) this.#waiting.push({ late: result });
    else calls.results.set(result.toolCallId, result);
  }

  *#show(waitingMax: number): Generator<Fields> {
    let count = 0;
    for (const next of this.#waiting) {
      if ("late" in next) yield lateResult(next.late);
      else {
        const { entry, message, calls } = next;
        if (calls.open > 0 && this.#waiting.length - count <= waitingMax) break;
        calls.isShown = true;
        if (message.role === "user") yield* userChunks(entry);
        else if (message.role === "assistant")
          yield* replyChunks(entry, message, { results: calls.results, describe: this.#describe });
        calls.results.clear();
      }
      count++;
    }
    this.#waiting = this.#waiting.slice(count);
  }
}

function* userChunks(entry: EntryOf<"message">): Generator<Fields> {
  const exact = fieldsOf(fieldsOf(detailsOf(entry))["acp"])["prompt"];
  const blocks = Array.isArray(exact) ? listIn(exact) : entry.message.content.map((block) => acpBlock(block));
  for (const content of blocks)
    if (content !== null) yield { sessionUpdate: "user_message_chunk", content, messageId: entry.id };
}

function* replyChunks(
  entry: EntryOf<"message">,
  message: AssistantMessage,
  { results, describe }: { readonly results: ReadonlyMap<string, ToolResult>; readonly describe: Describe },
): Generator<Fields> {
  const { messages, tools } = fieldsOf(detailsOf(entry));
  const [own] = Array.isArray(messages) ? (messages as readonly Json[]) : [];
  const messageId = typeof own === "string" ? own : entry.id;
  const cutOff = message.stopReason === "interrupted" || message.stopReason === "failed";
  const mark = cutOff ? { _meta: { holdfast: { [message.stopReason ?? ""]: true } } } : {};
  for (const block of message.content) {
    if (block.type === "toolCall") {
      const result = results.get(block.id) ?? null;
      const { content, ...described } = describe(block);
      // A change to a file is shown as such where it was made.
      const change = content === undefined || result?.isError === true ? {} : { content };
      yield toolCall(block, { ...described, ...change, ...fieldsOf(fieldsOf(tools)[block.id]) }, result);
      continue;
    }
    const content = acpBlock(block);
    const kind = block.type === "thinking" ? "agent_thought_chunk" : "agent_message_chunk";
    if (content !== null) yield { sessionUpdate: kind, content, messageId, ...mark };
  }
}

function toolCall(
  call: { readonly id: string; readonly name: string; readonly input: Json },
  details: Fields,
  result: ToolResult | null,
): Fields {
  const text = textContent(result === null ? OUTCOME_UNKNOWN : textOfBlocks(result.content));
  // A terminal lives no longer than the agent that opened it; a host drops what names one it does not know.
  const parts = listIn(details["content"] ?? null).filter((part) => part["type"] !== "terminal");
  const { title = call.name, kind, locations, rawOutput } = details;
  const more = Object.entries({ kind, locations, rawOutput }).filter(([, value]) => value !== undefined);
  return {
    sessionUpdate: "tool_call",
    toolCallId: call.id,
    title,
    rawInput: call.input,
    status: result === null || result.isError === true ? "failed" : "completed",
    content: result !== null && parts.length > 0 ? parts : text,
    ...Object.fromEntries(more as [string, Json][]),
    ...(result === null ? { _meta: { holdfast: { outcome: "unknown" } } } : {}),
  };
}

function lateResult(result: ToolResult): Fields {
  return {
    sessionUpdate: "tool_call_update",
    toolCallId: result.toolCallId,
    status: result.isError === true ? "failed" : "completed",
    content: textContent(textOfBlocks(result.content)),
  };
}

function textContent(text: string): Json {
  return text === "" ? [] : [{ type: "content", content: { type: "text", text: text } }];
}

interface HostHistory {
  readonly messages: readonly Message[];
  /** How many texts were for the model's program: no part of a conversation. */
  readonly omitted: number;
  /** What did not fit together and was mended, so that every call has its result. */
  readonly repairs: readonly Repair[];
}

/** The messages a host brings: with the protocol's own blocks, or as a Chat Completions request has them, tools included. */
export function readHostHistory(history: Json): HostHistory {
  const items = listIn(history);
  if (!items.some((item) => isChatCompletion(item)))
    return { messages: items.map((item) => messageOf(item)), omitted: 0, repairs: [] };
  // Every field is looked at by its reader: what does not fit is refused there.
  const { messages, system } = fromOpenAI(items as unknown as readonly OpenAIMessageLike[]);
  return { ...wholePairs(messages), omitted: system.length };
}

const OTHER_ROLES: ReadonlySet<Json | undefined> = new Set(["tool", "system", "developer", "function"]);

function isChatCompletion({ role, content, tool_calls }: Fields): boolean {
  if (OTHER_ROLES.has(role) || tool_calls !== undefined) return true;
  return listIn(content).some(({ type }) => type === "image_url");
}

function messageOf({ role, content }: Fields): Message {
  if (role !== "user" && role !== "assistant")
    throw new LogError(
      "invalid_request",
      `Unknown role "${wordsIn(role)}" in the history. Use user, assistant, tool or system.`,
    );
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  return { role, content: contentOf(blocks) };
}

function listOf(content: Json | undefined): readonly Json[] {
  if (Array.isArray(content)) return content as readonly Json[];
  return content === undefined || content === null ? [] : [content];
}
