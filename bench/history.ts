import type { Conversation } from "../src/conversation/conversation.ts";
import { type AppendResult, BATCH_ENTRIES_MAX } from "../src/log/batch.ts";
import type { EntryBody } from "../src/log/entry.ts";
import { parseConversationId } from "../src/log/ids.ts";
import { prepare, systemIdsAndTime } from "../src/store/prepare.ts";
import type { SpaceStore } from "../src/store/facets.ts";

/** One message of a history, before anyone's format. */
export interface Said {
  readonly role: "user" | "assistant" | "toolResult";
  readonly text: string;
  /** The call an assistant makes, or the one a result answers. */
  readonly call: string | null;
}

const WORDS =
  'the log keeps every "entry" once and in order, so a reader can walk back\n\tfrom the leaf to what it needs; naïve copies — and there are many — cost more than they look like ';

/** Text of about `chars`, different for each n, with the quotes, breaks and accents that JSON has to escape or encode. */
export function textOf(n: number, chars: number): string {
  const start = (n * 31) % WORDS.length;
  return `${n}: ${WORDS.repeat(Math.ceil(chars / WORDS.length) + 1).slice(start, start + chars)}`;
}

/** The nth message of an agent at work: prompt, tool call, result, reply, and again. */
export function saidAt(n: number, chars: number): Said {
  const text = textOf(n, chars);
  const call = `call-${Math.floor(n / 4)}`;
  if (n % 4 === 1) return { role: "assistant", text, call };
  if (n % 4 === 2) return { role: "toolResult", text, call };
  return { role: n % 4 === 0 ? "user" : "assistant", text, call: null };
}

export function bodyOf(said: Said): EntryBody {
  const text = { type: "text", text: said.text } as const;
  if (said.role === "user") return { type: "message", message: { role: "user", content: [text] } };
  if (said.role === "toolResult") {
    const toolCallId = said.call ?? "";
    return {
      type: "message",
      message: { role: "toolResult", toolCallId, toolName: "bash", isError: false, content: [text] },
    };
  }
  const content =
    said.call === null
      ? [text]
      : [text, { type: "toolCall", id: said.call, name: "bash", input: { command: "ls" } } as const];
  const usage = { inputTokens: 1_200, outputTokens: 180 };
  return { type: "message", message: { role: "assistant", content, model: "example-1", usage } };
}

/** The four messages of a turn. */
export function turnBodies(turn: number, chars: number): readonly EntryBody[] {
  return [0, 1, 2, 3].map((part) => bodyOf(saidAt(turn * 4 + part, chars)));
}

export interface HistoryShape {
  readonly messages: number;
  readonly chars: number;
  /** Messages between compactions, which come in the middle of each stretch; absent: none. */
  readonly compactEvery?: number;
}

const KEPT_MESSAGES = 20;

export type HistoryItem =
  | { readonly kind: "said"; readonly said: Said; readonly name: string | null }
  | { readonly kind: "compaction"; readonly firstKept: string; readonly summary: string };

/** A whole history, item by item; the messages a compaction keeps from are named, so that it can point at them. */
export function* historyOf(shape: HistoryShape): Generator<HistoryItem> {
  const { messages, chars, compactEvery } = shape;
  for (let n = 0; n < messages; n++) {
    const into = compactEvery === undefined ? -1 : n % compactEvery;
    // Between turns: a compaction never parts a call from its result.
    const middle = 4 * Math.floor((compactEvery ?? 0) / 8);
    if (into === middle)
      yield { kind: "compaction", firstKept: keptName(n - KEPT_MESSAGES), summary: textOf(n, 2_000) };
    const named = into === middle - KEPT_MESSAGES;
    yield { kind: "said", said: saidAt(n, chars), name: named ? keptName(n) : null };
  }
}

function keptName(n: number): string {
  return `kept-${n}`;
}

function historyBody(item: HistoryItem): EntryBody {
  if (item.kind === "compaction")
    return { type: "compaction", summary: item.summary, firstKeptEntryId: item.firstKept };
  const body = bodyOf(item.said);
  return item.name === null ? body : { ...body, id: item.name };
}

/**
 * Appends a history in the largest batches the log takes, the next one being made while the last is written.
 * Returns the id of the message in the middle.
 */
export async function fill(conversation: Conversation, shape: HistoryShape): Promise<string> {
  const middle = Math.floor(shape.messages / 2);
  const found = { id: "", written: 0 };
  const note = ({ ids }: AppendResult): void => {
    found.id = ids[middle - found.written] ?? found.id;
    found.written += ids.length;
  };
  let writing: Promise<void> = Promise.resolve();
  for (const batch of batchesOf(shape)) {
    const appended = conversation.append(batch);
    await writing;
    writing = appended.then(note);
  }
  await writing;
  return found.id;
}

function* batchesOf(shape: HistoryShape): Generator<readonly EntryBody[]> {
  let batch: EntryBody[] = [];
  for (const item of historyOf(shape)) {
    batch.push(historyBody(item));
    if (batch.length < BATCH_ENTRIES_MAX) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const CREATES_AT_ONCE = 1_000;

/** Makes many conversations of one message each. */
export async function createMany(space: SpaceStore, count: number, chars: number): Promise<void> {
  for (let from = 0; from < count; from += CREATES_AT_ONCE) {
    const many = Array.from({ length: Math.min(CREATES_AT_ONCE, count - from) }, (_, n) => from + n);
    await Promise.all(many.map((n) => createOne(space, n, chars)));
  }
}

async function createOne(space: SpaceStore, n: number, chars: number): Promise<void> {
  const conversation = parseConversationId(`crowd-${n}`);
  const bodies: EntryBody[] = [
    { type: "conversation", cwd: `/projects/${n % 50}` },
    { type: "title", title: `Conversation ${n}` },
    bodyOf(saidAt(0, chars)),
  ];
  await space.create({ conversation, ...prepare(bodies, systemIdsAndTime), key: null });
}
