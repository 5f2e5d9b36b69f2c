import { existsSync, renameSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Conversation } from "../src/conversation/conversation.ts";
import type { Holdfast } from "../src/conversation/holdfast.ts";
import { openHoldfast } from "../src/open.ts";
import type { EntryBody } from "../src/log/entry.ts";
import { textOf } from "./history.ts";
import { sizeText, type Stage } from "./stage.ts";

const CHARS = 80; // short, so that nothing hides behind the bytes of a message
const BATCH = 2_000;
const BATCH_LARGEST = 10_000;
const SIZE_OF_ALL = 100_000; // every shape in every store is built up to this size
/** The shapes that are built larger than that, in SQLite: the others would take an hour and tell the same. */
const LARGEST: ReadonlySet<string> = new Set(["no models", "tools only", "turns", "labels"]);
const TAIL_MESSAGES = 6; // what lies behind the stretch, the same at every size
const FORK_ENTRIES = 1_000;
export const LABEL = "the end"; // of the leaf
const VERSION = 1; // of what is built: a folder of kept ones holds nothing older

/** A log that is awkward in one way. `bulk` makes its entries, `tail` what every size ends with. */
interface Shape {
  readonly name: string;
  readonly bulk: (entries: number) => Iterable<EntryBody>;
  readonly model: string | null;
  /** Whether a compaction stands between the stretch and the tail. */
  readonly compacted: boolean;
  /** Nested forks instead of one log. */
  readonly forks?: boolean;
  /** Of what is built, where it is not the one of all shapes. */
  readonly version?: number;
}

const said = (n: number, model: string | null, id: string = `m${n}`): EntryBody => {
  const content = [{ type: "text", text: textOf(n, CHARS) } as const];
  if (n % 2 === 0) return { type: "message", id, message: { role: "user", content } };
  const named = model === null ? {} : { model };
  const usage = { inputTokens: 1_000, outputTokens: 10 };
  return { type: "message", id, message: { role: "assistant", content, ...named, usage } };
};

function* messages(entries: number, model: string | null): Generator<EntryBody> {
  for (let n = 0; n < entries; n++) yield said(n, model);
}

function* tools(entries: number): Generator<EntryBody> {
  for (let n = 0; n < entries; n++) {
    const call = `call-${Math.floor(n / 2)}`;
    const block = { type: "toolCall", id: call, name: "bash", input: { command: textOf(n, CHARS) } } as const;
    const content = [{ type: "text", text: textOf(n, CHARS) } as const];
    yield n % 2 === 0
      ? { type: "message", id: `m${n}`, message: { role: "assistant", content: [block] } }
      : { type: "message", id: `m${n}`, message: { role: "toolResult", toolCallId: call, content } };
  }
}

function* hidden(entries: number): Generator<EntryBody> {
  for (let n = 0; n < entries / 2; n++) {
    yield said(n, null);
    yield { type: "hide", target: `m${n}` };
  }
}

function* custom(entries: number): Generator<EntryBody> {
  for (let n = 0; n < entries; n++)
    yield { type: "custom", id: `m${n}`, customType: "note", data: textOf(n, CHARS) };
}

function* turns(entries: number): Generator<EntryBody> {
  yield { type: "upstream_link", upstream: "up-0", agent: "claude", reason: "first" };
  for (let n = 0; n < entries / 5; n++) {
    const turn = `turn-${n}`;
    yield said(2 * n, "example-1");
    yield { type: "turn_start", turn, prompt: `m${2 * n}` };
    yield { type: "attempt", turn, upstream: "up-0", fidelity: "native" };
    yield said(2 * n + 1, "example-1");
    yield { type: "turn_end", turn, outcome: "completed", upstream: "up-0", node: `m${2 * n + 1}` };
  }
}

function* labels(entries: number): Generator<EntryBody> {
  for (let n = 0; n < entries; n++)
    yield n % 10 === 9 ? { type: "label", target: `m${n - 1}`, label: `label ${n}` } : said(n, "example-1");
}

/** Goes back every twenty entries, so that the log is a comb of short branches on one spine. */
function* branches(entries: number): Generator<EntryBody> {
  for (let n = 0; n < entries; n++)
    yield n % 20 === 19 ? { type: "leaf", target: `m${n - 10}` } : said(n, "example-1");
}

function* links(entries: number): Generator<EntryBody> {
  for (let n = 0; n < entries; n++)
    yield n % 100 === 99
      ? { type: "upstream_link", upstream: `up-${n}`, agent: "claude", reason: "lost" }
      : said(n, "example-1");
}

const plain = (model: string | null) => (entries: number) => messages(entries, model);

/** Every way we know for a log to be large without its window being so. */
export const SHAPES: readonly Shape[] = [
  { name: "messages", bulk: plain("example-1"), model: "example-1", compacted: true },
  { name: "no models", bulk: plain(null), model: null, compacted: true },
  { name: "tools only", bulk: tools, model: null, compacted: true },
  { name: "tools, uncompacted", bulk: tools, model: null, compacted: false },
  { name: "hidden", bulk: hidden, model: null, compacted: true, version: 2 },
  { name: "hidden, uncompacted", bulk: hidden, model: null, compacted: false, version: 2 },
  { name: "custom", bulk: custom, model: null, compacted: true },
  { name: "custom, uncompacted", bulk: custom, model: null, compacted: false },
  { name: "turns", bulk: turns, model: "example-1", compacted: true },
  { name: "labels", bulk: labels, model: "example-1", compacted: true },
  { name: "branches", bulk: branches, model: "example-1", compacted: true },
  { name: "links", bulk: links, model: "example-1", compacted: true },
  { name: "forks", bulk: plain("example-1"), model: "example-1", compacted: true, forks: true },
];

/** The sizes a shape is measured in. */
export function sizesOf(stage: Stage, store: "sqlite" | "jsonl", shape: Shape): readonly number[] {
  const largest = store === "sqlite" && LARGEST.has(shape.name);
  return stage.sizes.filter((size) => size <= SIZE_OF_ALL || largest);
}

/** A conversation of a shape and a size, in a file of its own. */
export interface Shaped {
  readonly shape: Shape;
  readonly size: number;
  readonly path: string;
  readonly holdfast: Holdfast;
  readonly conversation: Conversation;
  /** The last prompt and the leaf behind it. */
  readonly prompt: string;
  readonly leaf: string;
}

/**
 * Opens the conversation of a shape and size, building it first unless the stage keeps one from an earlier run; whoever
 * writes to it takes a copy.
 */
export async function openShaped(
  stage: Stage,
  store: "sqlite" | "jsonl",
  shape: Shape,
  given: { readonly size: number; readonly copy?: boolean },
): Promise<Shaped> {
  const { size, copy = false } = given;
  const name = `v${shape.version ?? VERSION}-${shape.name.replaceAll(/\W+/g, "-")}-${size}.${store === "sqlite" ? "db" : "jsonl"}`;
  const path = join(stage.kept, name);
  if (!existsSync(path)) {
    stage.say(`building ${sizeText(size)} entries of ${shape.name} in ${store}`);
    await rm(`${path}.new`, { recursive: true, force: true });
    await build(`${store}:${path}.new`, shape, size);
    renameSync(`${path}.new`, path);
  }
  const used = copy ? stage.path(name) : path;
  if (copy && !existsSync(used)) await cp(path, used, { recursive: true });
  const holdfast = await openHoldfast({ store: `${store}:${used}` });
  const conversation = await holdfast.conversation(shape.forks === true ? "fork" : "long");
  return {
    shape,
    size,
    path: used,
    holdfast,
    conversation,
    prompt: tailId(TAIL_MESSAGES - 2),
    leaf: tailId(TAIL_MESSAGES - 1),
  };
}

async function build(address: string, shape: Shape, size: number): Promise<void> {
  await using holdfast = await openHoldfast({ store: address });
  let conversation = await holdfast.create({ id: "long" });
  if (shape.forks === true) conversation = await nestForks(conversation, size);
  else await appendAll(conversation, shape.bulk(size), size > SIZE_OF_ALL ? BATCH_LARGEST : BATCH);
  const tail = Array.from({ length: TAIL_MESSAGES }, (_, n) => said(n, shape.model, tailId(n)));
  await conversation.append([
    ...(shape.compacted ? [{ type: "compaction", summary: textOf(1, 2_000) } as const] : []),
    ...tail,
    { type: "label", target: tailId(TAIL_MESSAGES - 1), label: LABEL },
  ]);
  await holdfast.search("nothing"); // the index is brought up to date
}

async function appendAll(
  conversation: Conversation,
  bodies: Iterable<EntryBody>,
  most: number = BATCH,
): Promise<void> {
  let batch: EntryBody[] = [];
  for (const body of bodies) {
    batch.push(body);
    if (batch.length < most) continue;
    await conversation.append(batch);
    batch = [];
  }
  if (batch.length > 0) await conversation.append(batch);
}

function tailId(n: number): string {
  return `tail-${n}-end`;
}

/** Each fork grows from the end of the one before. */
async function nestForks(root: Conversation, size: number): Promise<Conversation> {
  let conversation = root;
  const levels = Math.max(1, Math.floor(size / FORK_ENTRIES));
  for (let level = 0; level < levels; level++) {
    const part = Math.floor(size / levels);
    const bodies = Array.from({ length: part }, (_, n) => said(n, "example-1", `f${level}-${n}`));
    await appendAll(conversation, bodies);
    conversation = await conversation.fork({ id: level === levels - 1 ? "fork" : `level-${level}` });
  }
  return conversation;
}
