import { isMedia } from "#log/blob-names";
import { type ContentBlock, type MediaBlock } from "#log/message";
import { LogError } from "#log/errors";
import { fieldsIn } from "#log/json/json-fields";
import { type Json, writeJsonObject } from "#log/json/json-text";
import { block as checkBlock } from "#log/table/shapes";
import type { Tool, ToolOutput } from "./tool.ts";

/** Keeps bytes beside the log and names them. */
export type KeepBlob = (bytes: Uint8Array) => Promise<string>;

/** What a tool gave, as the log takes it. */
export interface NormalOutput {
  readonly isError: boolean;
  readonly content: readonly ContentBlock[];
  readonly details?: Json;
}

const OUTPUT_CHARS = 40_000; // ten thousand tokens: most outputs whole, and a few of them in any window
const OUTPUT_CHARS_MAX = 1_048_576; // whatever a tool declares: the rest of the window belongs to others
const DETAILS_CHARS_MAX = 1_048_576;
const MEDIA_CHARS_MAX = 1_048_576; // of base64 in the log itself, where there is nowhere else to keep it
const HEAD_PART = 0.6; // what a tool says first tells what it is about; its end tells how it went
const MESSAGE_TYPES_ONLY = new Set(["thinking", "redactedThinking", "toolCall"]);

/**
 * What a tool returned, as blocks that the log takes: whatever it was, the result is one that can be stored and sent.
 * A value that cannot be kept is a failed result that says what was wrong with it; the tool has run all the same.
 */
export async function normalOutput(
  output: unknown,
  tool: Tool,
  keepBlob: KeepBlob | null,
): Promise<NormalOutput> {
  try {
    return await read(output, tool, keepBlob);
  } catch (error) {
    const why = errorText(error);
    const text = `${tool.name} ran, but its result cannot be stored: ${why}. Anything it did is not undone.`;
    return { isError: true, content: await shownText(text, tool, keepBlob) };
  }
}

/** What was thrown, as a failed result. */
export async function failedOutput(
  error: unknown,
  tool: Tool,
  keepBlob: KeepBlob | null,
): Promise<NormalOutput> {
  return { isError: true, content: await shownText(errorText(error), tool, keepBlob) };
}

export function errorText(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return text.trim() === "" ? "The tool failed without an error message" : text;
  } catch {
    return "The tool failed without an error message";
  }
}

async function read(output: unknown, tool: Tool, keepBlob: KeepBlob | null): Promise<NormalOutput> {
  if (typeof output === "string") return { isError: false, content: await shownText(output, tool, keepBlob) };
  const { content, details, state, isError } = membersOf(output);
  const blocks = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
  if (!Array.isArray(blocks))
    throw refusal(`content must be a string or an array of blocks (got ${kindOf(content)})`);
  const full: unknown[] = [];
  for (const block of blocks as readonly unknown[]) full.push(await storableBlock(block, keepBlob));
  const short = await shortened(full, tool, keepBlob);
  // Everything that is left is of a size that the log can hold, and is read once.
  const { value } = writeJsonObject({ content: short });
  for (const [at, block] of (value["content"] as readonly Json[]).entries())
    checkBlock(block, `content[${at}]`);
  const more = await storableDetails({ details, state }, keepBlob);
  const note: ContentBlock[] = more.note === null ? [] : [{ type: "text", text: more.note }];
  return {
    isError: isError === true,
    content: [...(value["content"] as unknown as readonly ContentBlock[]), ...note],
    ...(more.details === undefined ? {} : { details: more.details }),
  };
}

function membersOf(output: unknown): Readonly<Record<string, unknown>> {
  if (typeof output !== "object" || output === null || Array.isArray(output) || !("content" in output))
    throw refusal(`the result must be a string or an object with content (got ${kindOf(output)})`);
  return output;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "another object" : `a ${typeof value}`;
}

function refusal(why: string): LogError {
  return new LogError("invalid_entry", why);
}

/** Bytes go beside the log; text is made such that any provider takes it. */
async function storableBlock(value: unknown, keepBlob: KeepBlob | null): Promise<unknown> {
  if (typeof value !== "object" || value === null || !("type" in value) || typeof value.type !== "string")
    throw refusal("every block must be an object with a type");
  if (MESSAGE_TYPES_ONLY.has(value.type))
    throw refusal(`a result cannot contain a block of type ${value.type}`);
  if (value.type === "text") {
    const { text } = value as { readonly text?: unknown };
    if (typeof text !== "string") throw refusal("a text block has no text");
    return { ...value, text: text.toWellFormed() };
  }
  const block = value as ContentBlock;
  return isMedia(block) ? storableMedia(block, keepBlob) : block;
}

async function storableMedia(block: MediaBlock, keepBlob: KeepBlob | null): Promise<ContentBlock> {
  const { data, ...rest } = block;
  if (data === undefined) return block;
  if (typeof data !== "string") throw refusal(`the data of a block of type ${block.type} must be a string`);
  const bytes = Buffer.from(data, "base64");
  if (bytes.toString("base64") !== data)
    throw refusal(`the data of a block of type ${block.type} must be base64`);
  const blob = await tryKeep(bytes, keepBlob);
  if (blob !== null) return { ...rest, blob };
  if (data.length <= MEDIA_CHARS_MAX) return block;
  return {
    type: "text",
    text: `[${block.type} of ${bytes.length} bytes omitted: the store does not support blobs]`,
  };
}

/** A disk that is full must not cost the outcome. */
async function tryKeep(bytes: Uint8Array, keepBlob: KeepBlob | null): Promise<string | null> {
  try {
    return keepBlob === null ? null : await keepBlob(bytes);
  } catch {
    return null;
  }
}

type TextBlock = Extract<ContentBlock, { type: "text" }>;

async function shownText(
  text: string,
  tool: Tool,
  keepBlob: KeepBlob | null,
): Promise<readonly ContentBlock[]> {
  return (await shortened([{ type: "text", text: text.toWellFormed() }], tool, keepBlob)) as ContentBlock[];
}

/** Text beyond the limit is shown by its beginning and its end, the whole of it kept beside the log. */
async function shortened(
  blocks: readonly unknown[],
  tool: Tool,
  keepBlob: KeepBlob | null,
): Promise<readonly unknown[]> {
  const limit = Math.min(Math.max(tool.outputChars ?? OUTPUT_CHARS, 1), OUTPUT_CHARS_MAX);
  const texts = blocks.filter((block): block is TextBlock => (block as TextBlock).type === "text");
  const chars = texts.reduce((sum, { text }) => sum + text.length, 0);
  if (chars <= limit) return blocks;
  const whole = texts.map(({ text }) => text).join("\n");
  const blob = await tryKeep(Buffer.from(whole), keepBlob);
  const text = { type: "text", text: headAndTail(whole, limit, blob) } as const;
  return [text, ...blocks.filter((block) => (block as TextBlock).type !== "text")];
}

function headAndTail(whole: string, limit: number, blob: string | null): string {
  const headEnd = Math.floor(limit * HEAD_PART);
  const head = unbroken(whole.slice(0, headEnd));
  const tail = unbroken(whole.slice(whole.length - (limit - headEnd)));
  const leftOut = whole.length - head.length - tail.length;
  const where = blob === null ? "and not stored" : `and stored completely as blob ${blob}`;
  return `${head}\n[${leftOut} of ${whole.length} characters omitted here ${where}]\n${tail}`;
}

/** A pair that was cut in two leaves nothing. */
function unbroken(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed().replaceAll(/^\uFFFD|\uFFFD$/g, "");
}

/** What a tool returned beside its content, from the details of its stored result: `storableDetails` makes the same of it. */
export function returnedBeside(details: Json | undefined): Pick<ToolOutput, "details" | "state"> {
  if (details === undefined) return {};
  const { stateUpdate, ...own } = fieldsIn(details) ?? {};
  const state = fieldsIn(stateUpdate);
  if (state === null) return { details };
  return { state, ...(Object.keys(own).length === 0 ? {} : { details: own }) };
}

interface StorableDetails {
  readonly details: Json | undefined;
  /** What is said where they were too large. */
  readonly note: string | null;
}

async function storableDetails(
  output: { readonly details: unknown; readonly state: unknown },
  keepBlob: KeepBlob | null,
): Promise<StorableDetails> {
  const { details, state } = writeJsonObject(output).value;
  const own = fieldsIn(details);
  if (own !== null && Object.hasOwn(own, "stateUpdate"))
    throw refusal("details cannot have a field stateUpdate, which is reserved for `state`");
  if (state !== undefined && fieldsIn(state) === null) throw refusal("state must be an object");
  const update = state === undefined ? {} : { stateUpdate: state };
  if (JSON.stringify(update).length > DETAILS_CHARS_MAX)
    throw refusal(`state has more than ${DETAILS_CHARS_MAX} characters`);
  if (details === undefined) return { details: state === undefined ? undefined : update, note: null };
  const text = JSON.stringify(details);
  if (text.length <= DETAILS_CHARS_MAX) {
    const beside = own ?? { value: details };
    return { details: state === undefined ? details : { ...beside, ...update }, note: null };
  }
  const blob = await tryKeep(Buffer.from(text), keepBlob);
  const pointer = blob === null ? {} : { blob };
  const note = `\n[Details of ${text.length} characters omitted${blob === null ? "" : ` and stored as blob ${blob}`}]`;
  return { details: { ...pointer, ...update }, note };
}
