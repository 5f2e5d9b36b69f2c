import { join } from "node:path";
import { promptTitle } from "#log/title";
import { isSessionId, type NativeSession, type NativeStore } from "#vendors/native-store";
import { eachRecord, entriesIn, readEdges, readFirst, stampOf } from "#vendors/record-files";
import type { RecordReader } from "#vendors/vendor";
import { countIn, type Fields, fieldsIn, textIn, listIn } from "#log/json/json-fields";
import { type ContentBlock, textOfBlocks } from "#log/message";
import type { Json } from "#log/json/json-text";
import type { NativeMessage } from "#upstream/upstream";
import { readJson } from "#log/json/read-json";

const ROLLOUT = /^rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/i;

interface Rollout {
  readonly id: string;
  readonly path: string;
}

/** A rollout up to a record of it. */
interface Part {
  readonly path: string;
  readonly before: number;
  /** The forks that lead here: files that name each other must not be followed forever. */
  readonly later: ReadonlySet<string>;
}

/** The rollouts of Codex: one file per session, in a folder per day. Read only: their format changes too often. */
export function codexStore({ home }: { readonly home: string }): NativeStore {
  const paths = new Map<string, string>();

  const find = async (id: string): Promise<string | null> => {
    if (!isSessionId(id)) return null;
    const path = paths.get(id);
    if (path !== undefined && (await stampOf(path)) !== null) return path;
    paths.delete(id);
    for await (const rollout of rolloutsIn(join(home, "sessions"))) {
      if (rollout.id !== id.toLowerCase()) continue;
      paths.set(id, rollout.path);
      return rollout.path;
    }
    return null;
  };

  /** A fork's rollout begins at the fork; everything before is in the rollout it was made from. */
  const readInto = async (reader: RecordReader, { path, before, later }: Part): Promise<void> => {
    const base = fieldsIn(fieldsIn((await readFirst(path))?.["payload"])?.["history_base"]);
    const from = await find(textIn(base?.["thread_id"]) ?? "");
    const all = new Set(later).add(path);
    if (from !== null && !all.has(from)) {
      const end = countIn(base?.["end_ordinal_exclusive"]) ?? Infinity;
      await readInto(reader, { path: from, before: Math.min(end, before), later: all });
    }
    await eachRecord(path, (record) => {
      if ((countIn(record["ordinal"]) ?? 0) < before) reader.add(record);
    });
  };

  return {
    list: () => sessionsIn(home),
    read: async (id) => {
      const path = await find(id);
      if (path === null) return null;
      const reader = rolloutReader();
      // What was read before the error counts: the file may have been removed since it was found.
      await readInto(reader, { path, before: Infinity, later: new Set() }).catch(() => undefined);
      const messages = reader.messages();
      return messages.length === 0 ? null : messages;
    },
    stamp: async (id) => {
      const path = await find(id);
      return path === null ? null : stampOf(path);
    },
  };
}

/** Newest day first: a session that is asked for is mostly a recent one. */
async function* rolloutsIn(folder: string, depth = 3): AsyncGenerator<Rollout> {
  const entries = (await entriesIn(folder)).toSorted((one, other) => (one.name < other.name ? 1 : -1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const id = ROLLOUT.exec(entry.name)?.[1];
    if (depth > 0 && entry.isDirectory()) yield* rolloutsIn(path, depth - 1);
    if (depth === 0 && entry.isFile() && id !== undefined) yield { id: id.toLowerCase(), path };
  }
}

async function sessionsIn(home: string): Promise<readonly NativeSession[]> {
  const titles = await titlesIn(join(home, "session_index.jsonl"));
  const sessions: NativeSession[] = [];
  for await (const rollout of rolloutsIn(join(home, "sessions"))) {
    const session = await describeRollout(rollout, titles);
    if (session !== null) sessions.push(session);
  }
  return sessions.toSorted((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1));
}

async function titlesIn(path: string): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  await eachRecord(path, (record) => {
    const [id, title] = [textIn(record["id"]), textIn(record["thread_name"])];
    if (id !== null && title !== null && title !== "") titles.set(id, title);
  }).catch(() => undefined);
  return titles;
}

async function describeRollout(
  { id, path }: Rollout,
  titles: ReadonlyMap<string, string>,
): Promise<NativeSession | null> {
  const first = await readFirst(path);
  const edges = await readEdges(path);
  const meta = first?.["type"] === "session_meta" ? fieldsIn(first["payload"]) : null;
  // A sub-agent's rollout has its parent for a source; no person began it.
  if (meta === null || edges === null || fieldsIn(meta["source"]) !== null) return null;
  const title = promptTitle(titles.get(id) ?? firstPrompt(edges.head) ?? "");
  return { id, cwd: textIn(meta["cwd"]), title, updatedAt: edges.updatedAt };
}

function firstPrompt(records: readonly Fields[]): string | null {
  const reader = rolloutReader();
  for (const record of records) reader.add(record);
  const prompt = reader.messages().find(({ message }) => message.role === "user")?.message;
  const text = prompt?.content.find((block) => block.type === "text");
  return text === undefined ? null : text.text;
}

// What Codex writes in the user's place. Newer records name the kind of each part, older ones only look like this.
const WRAPPED =
  /^\s*(?:<(?:environment_context|user_instructions|turn_aborted|permissions instructions|skills?|skills_instructions|user_shell_command|subagent_notification|collaboration_mode|INSTRUCTIONS)[\s>]|# AGENTS\.md instructions)/;

const CALLS: ReadonlySet<string> = new Set(["function_call", "custom_tool_call", "local_shell_call"]);
const OUTPUTS: ReadonlySet<string> = new Set(["function_call_output", "custom_tool_call_output"]);

/** An answer whose records may still be coming. */
interface Answer {
  readonly time: string | null;
  readonly content: ContentBlock[];
  readonly index: number;
}

/** Gathers the messages of a rollout. Thought, text and calls are records of their own; they make up one answer. */
export function rolloutReader(): RecordReader {
  const messages: NativeMessage[] = [];
  const tools = new Map<string, string>();
  let model: string | null = null;
  let answer: Answer | null = null;

  const addMessage = (message: NativeMessage): void => {
    answer = null;
    messages.push(message);
  };
  const addParts = (parts: readonly ContentBlock[], id: string | null, time: string | null): void => {
    // A thought or a text after a text begins the next answer; a call belongs to the text before it.
    const begins = parts.some((part) => part.type !== "toolCall");
    if (answer === null || (begins && answer.content.some((part) => part.type !== "thinking"))) {
      answer = { time, content: [], index: messages.length };
    }
    answer.content.push(...parts);
    const extras = model === null ? {} : { model };
    const messageId = messages[answer.index]?.id ?? id;
    messages[answer.index] = {
      id: messageId,
      time: answer.time,
      message: { role: "assistant", content: answer.content, ...extras },
    };
  };
  const addItem = (item: Fields, time: string | null): void => {
    const type = textIn(item["type"]) ?? "";
    const id = textIn(item["id"]);
    if (type === "message" && item["role"] === "user") {
      const content = wordsIn(item);
      if (content.length > 0) addMessage({ id, time, message: { role: "user", content } });
    } else if (OUTPUTS.has(type)) {
      const toolCallId = textIn(item["call_id"]) ?? "";
      const toolName = tools.get(toolCallId);
      const content = outputOf(item["output"]);
      const named = toolName === undefined ? {} : { toolName };
      addMessage({
        id,
        time,
        message: { role: "toolResult", toolCallId, ...named, ...errorOf(content), content },
        ...(isCutOff(content) ? { cutOff: true } : {}),
      });
    } else {
      const parts = partsOf(item, type);
      for (const part of parts) if (part.type === "toolCall") tools.set(part.id, part.name);
      // The id of an answer is that of its text; hosts receive no other.
      if (parts.length > 0) addParts(parts, type === "message" ? id : null, time);
    }
  };

  return {
    add: (record) => {
      const payload = fieldsIn(record["payload"]) ?? {};
      const type = record["type"];
      if (type === "response_item") addItem(payload, textIn(record["timestamp"]));
      if (type === "turn_context") model = textIn(payload["model"]) ?? model;
      if (type === "compacted") {
        answer = null;
        dropSummary(messages, textIn(payload["message"]) ?? "");
      }
      if (type === "event_msg" && payload["type"] === "thread_rolled_back") {
        answer = null;
        rollBack(messages, countIn(payload["num_turns"]) ?? 0);
      }
    },
    messages: () => messages,
  };
}

/** What Codex writes in place of the outcome of a command that was stopped. */
function isCutOff(content: readonly ContentBlock[]): boolean {
  return content.some((block) => block.type === "text" && /\baborted by user\b/i.test(block.text));
}

/** A command may have run inside the sandbox before Codex asked for leave to run it outside: this says only that it failed. */
function errorOf([block]: readonly ContentBlock[]): { readonly isError?: true } {
  const refused = block?.type === "text" && /^(?:exec command|patch) rejected by user\b/i.test(block.text);
  return refused ? { isError: true } : {};
}

function partsOf(item: Fields, type: string): readonly ContentBlock[] {
  if (type === "message" && item["role"] === "assistant") return listIn(item["content"]).flatMap(contentOf);
  if (CALLS.has(type)) return callOf(item);
  if (type !== "reasoning") return [];
  const thoughts = listIn(item["summary"]).map((part) => textIn(part["text"]) ?? "");
  const thinking = thoughts.filter((text) => text !== "").join("\n\n");
  return thinking === "" ? [] : [{ type: "thinking", thinking }];
}

/** A compaction is requested and recorded like an answer, right before it takes effect; no user saw it. */
function dropSummary(messages: NativeMessage[], summary: string): void {
  const last = messages.at(-1)?.message;
  if (last?.role !== "assistant") return;
  const text = textOfBlocks(last.content);
  if (text !== "" && summary.endsWith(text)) messages.pop();
}

/** Removes the last turns; a turn begins with a user message. */
function rollBack(messages: NativeMessage[], turns: number): void {
  for (let remaining = turns; remaining > 0 && messages.length > 0; remaining--) {
    const start = messages.findLastIndex(({ message }) => message.role === "user");
    messages.length = Math.max(start, 0);
  }
}

function wordsIn(item: Fields): readonly ContentBlock[] {
  const itemKinds = fieldsIn(item["internal_chat_message_metadata_passthrough"])?.["content_item_kinds"];
  const kinds = Array.isArray(itemKinds) ? (itemKinds as readonly Json[]) : null;
  return listIn(item["content"]).flatMap((part, n) => {
    const kind = textIn(kinds?.[n]);
    if (kind !== null && kind !== "unknown") return kind.startsWith("user.") ? contentOf(part) : [];
    return contentOf(part).filter((block) => block.type !== "text" || !WRAPPED.test(block.text));
  });
}

function contentOf(part: Fields): readonly ContentBlock[] {
  const text = textIn(part["text"]);
  if (text !== null) return text === "" ? [] : [{ type: "text", text }];
  const image = /^data:([^;,]+);base64,(.*)$/s.exec(textIn(part["image_url"]) ?? "");
  const [, mediaType, data] = image ?? [];
  return mediaType === undefined || data === undefined ? [] : [{ type: "image", mediaType, data }];
}

function callOf(item: Fields): readonly ContentBlock[] {
  const id = textIn(item["call_id"]);
  const name = textIn(item["name"]) ?? (item["type"] === "local_shell_call" ? "local_shell" : null);
  return id === null || name === null ? [] : [{ type: "toolCall", id, name, input: inputOf(item) }];
}

function inputOf(item: Fields): Json {
  const input = item["arguments"] ?? item["input"] ?? item["action"] ?? {};
  if (item["type"] !== "function_call" || typeof input !== "string") return input;
  try {
    return readJson(input);
  } catch {
    // Cut short by a limit; the text is all there is.
    return input;
  }
}

function outputOf(output: Json | undefined): readonly ContentBlock[] {
  const text = textIn(output) ?? textIn(fieldsIn(output)?.["content"]);
  if (text !== null) return text === "" ? [] : [{ type: "text", text }];
  return listIn(output).flatMap(contentOf);
}
