import { isMedia } from "#log/blob-names";
import type { ContentBlock, Message } from "#log/message";
import type { Json } from "#log/json/json-text";
import { isSameJson } from "#log/json/same-json";
import { readJson } from "#log/json/read-json";

/** A message as it is sent to a model: one of the log, or one of a context. */
export interface Sayable {
  readonly role: Message["role"];
  readonly content: readonly ContentBlock[];
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly isError?: boolean;
  readonly details?: Json;
}

/** One way of writing messages: how one of its own reads here, and how ours are written there. */
export interface Shape<Wire> {
  readonly name: string;
  read(wire: Wire): readonly Message[];
  write(messages: readonly Sayable[]): Wire[];
}

/** The text of a block list, for places that take nothing else. */
export function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === "text" ? block.text : placeholder(block))).join("");
}

function placeholder(block: ContentBlock): string {
  return isMedia(block) ? `[${block.mediaType}]` : "";
}

/**
 * Reads foreign messages. One that our words cannot say exactly keeps its own words beside them, so that going back gives
 * the very same.
 */
export function readAll<Wire>(shape: Shape<Wire>, wires: readonly Wire[]): Message[] {
  return wires.flatMap((wire) => {
    const [first, ...rest] = shape.read(wire);
    if (first === undefined) return [];
    const original = asJson(wire);
    if (isSameJson(asJson(shape.write([first, ...rest])), [original])) return [first, ...rest];
    return [{ ...first, details: { wire: { [shape.name]: original } } }, ...rest];
  });
}

/** Writes messages in a foreign shape; one that came from there and was not changed since is written as it came. */
export function writeAll<Wire>(shape: Shape<Wire>, messages: readonly Sayable[]): Wire[] {
  const wires: Wire[] = [];
  let plain: Sayable[] = [];
  const flush = (): void => {
    wires.push(...shape.write(plain));
    plain = [];
  };
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined) break;
    const original = originalOf(message, shape.name);
    const parts = original === undefined ? [] : shape.read(original as Wire);
    const given = messages.slice(at, at + parts.length);
    if (parts.length === 0 || !isSameJson(asJson(parts.map(bare)), asJson(given.map(bare)))) {
      if (saysSomething(message)) plain.push(message);
      continue;
    }
    flush();
    wires.push(original as Wire);
    at += parts.length - 1;
  }
  flush();
  return wires;
}

const SAID: ReadonlySet<string> = new Set(["text", "thinking", "redactedThinking", "toolCall", "image"]);

/** Blocks that only another provider knows are left out, and a message of nothing else with them. */
function saysSomething({ role, content }: Sayable): boolean {
  return role === "toolResult" || content.length === 0 || content.some(({ type }) => SAID.has(type));
}

function originalOf({ details }: Sayable, name: string): Json | undefined {
  const { wire } = (details ?? {}) as { wire?: { [name: string]: Json } };
  return wire?.[name];
}

/** What is said, without what only we keep. */
function bare({ role, content, toolCallId, toolName, isError }: Sayable): object {
  return { role, content, toolCallId, toolName, isError };
}

/** The value as JSON has it; bytes and addresses as the strings that mean the same. */
function asJson(value: unknown): Json {
  return readJson(
    JSON.stringify(value, (_name, inner: unknown) => (inner instanceof Uint8Array ? toBase64(inner) : inner)),
  );
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;

/** An image given by a data URL; null for any other address, which only its own side can follow. */
export function imageFromUrl(url: string): ContentBlock | null {
  const [, mediaType, data] = DATA_URL.exec(url) ?? [];
  return mediaType === undefined || data === undefined ? null : { type: "image", mediaType, data };
}

/** What cannot be said here is named, so that nobody takes it for said. */
export function unsaid(what: string): ContentBlock {
  return { type: "text", text: `[${what}]` };
}

/** Reads arguments that a model wrote as text; what is no JSON stays the text it is. */
export function parseArguments(text: string): Json {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}

export function isGroup(one: Sayable | readonly Sayable[]): one is readonly Sayable[] {
  return Array.isArray(one);
}

/** Every message by itself, and results that follow each other as one group. */
export function groupResults(messages: readonly Sayable[]): readonly (Sayable | readonly Sayable[])[] {
  const groups: (Sayable | Sayable[])[] = [];
  for (const message of messages) {
    const last = groups.at(-1);
    if (message.role !== "toolResult") groups.push(message);
    else if (Array.isArray(last)) last.push(message);
    else groups.push([message]);
  }
  return groups;
}
