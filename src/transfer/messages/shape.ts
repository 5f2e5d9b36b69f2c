import { isMedia } from "#log/blob-names";
import type { BlockExtras, ContentBlock, Message, ProviderBlock } from "#log/message";
import type { Json } from "#log/json/json-text";
import { readJson } from "#log/json/read-json";
import { isSameJson } from "#log/json/json-fields";

/** A message as it is sent to a model: one of the log, or one of a context. */
export interface Sayable {
  readonly role: Message["role"];
  readonly content: readonly ContentBlock[];
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly isError?: boolean;
}

/** Something that the target has no place for: it stays in the log. */
export interface Omission {
  /** Which of the messages, from 0. */
  readonly message: number;
  /** The type of the block, or the name of the member. */
  readonly block: string;
  readonly reason: string;
}

export interface WriteOptions {
  /** Receives whatever is not carried over. */
  readonly onOmission?: (omission: Omission) => void;
}

export type ShapeName = "openai" | "anthropic" | "aiSdk";
export type Fields = { readonly [name: string]: Json };
export type OnOmit = (block: string, reason: string) => void;

/** A message on its way out. */
export interface Outgoing {
  readonly message: Sayable;
  readonly omit: OnOmit;
}

export function outgoing(messages: readonly Sayable[], { onOmission }: WriteOptions): readonly Outgoing[] {
  return messages.map((message, index) => ({
    message,
    omit: (block, reason) => onOmission?.({ message: index, block, reason }),
  }));
}

/** Every message by itself, and results that follow each other as one group. */
export function groupResults(messages: readonly Outgoing[]): readonly (Outgoing | readonly Outgoing[])[] {
  const groups: (Outgoing | Outgoing[])[] = [];
  for (const one of messages) {
    const last = groups.at(-1);
    if (one.message.role !== "toolResult") groups.push(one);
    else if (Array.isArray(last)) last.push(one);
    else groups.push([one]);
  }
  return groups;
}

export function isGroup(one: Outgoing | readonly Outgoing[]): one is readonly Outgoing[] {
  return Array.isArray(one);
}

/** The value as JSON has it, bytes as base64; members without a value are left out. */
export function asFields(value: object): Fields {
  const text = JSON.stringify(value, (_name, inner: unknown) =>
    inner instanceof Uint8Array ? toBase64(inner) : inner,
  );
  const members = Object.entries(readJson(text) as Fields).filter(([, inner]) => inner !== null);
  return Object.fromEntries(members);
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** What we keep on a block for ourselves: no provider is sent it. */
function ownMetadata({ providerMetadata }: BlockExtras): Fields {
  const own = providerMetadata?.["holdfast"];
  return typeof own === "object" && own !== null && !Array.isArray(own) ? (own as Fields) : {};
}

/** The options of providers on a block, without ours. */
export function optionsOf({ providerMetadata }: BlockExtras): Fields {
  const { holdfast: _, ...rest } = providerMetadata ?? {};
  return rest;
}

export function withMetadata<B extends ContentBlock>(block: B, name: string, added: Fields): B {
  if (Object.keys(added).length === 0) return block;
  const { providerMetadata = {} } = block as BlockExtras;
  const metadata = providerMetadata[name] as Fields | undefined;
  return { ...block, providerMetadata: { ...providerMetadata, [name]: { ...metadata, ...added } } };
}

/**
 * A block with what its foreign part has beside it. `written`: the part as the block alone would give it; null where it gives
 * none of this kind, and the whole part is kept.
 */
export function withRest<B extends ContentBlock>(
  shape: ShapeName,
  block: B,
  { part, written }: { readonly part: object; readonly written: object | null },
): B {
  const original = asFields(part);
  const base = written === null ? null : asFields(written);
  const rest = base === null ? { whole: original } : differing(original, base);
  return Object.keys(rest).length === 0 ? block : withMetadata(block, "holdfast", { [shape]: rest });
}

function differing(original: Fields, base: Fields): Fields {
  const members = Object.entries(original).filter(
    ([name, value]) => !(Object.hasOwn(base, name) && isSameJson(value, base[name] ?? null)),
  );
  return Object.fromEntries(members);
}

/** The part again, with what was kept of it; null where it has none. */
export function withOriginal<P extends object>(
  shape: ShapeName,
  block: BlockExtras,
  base: P | null,
): P | null {
  const original = ownMetadata(block)[shape] as (Fields & { readonly whole?: P }) | undefined;
  if (original === undefined) return base;
  return original.whole ?? (base === null ? null : { ...base, ...original });
}

/** What a foreign message has beside its content, kept on its first block. */
export function withMessageRest<M extends Message>(shape: ShapeName, message: M, rest: Fields): M {
  if (Object.keys(rest).length === 0) return message;
  const [first = { type: "text", text: "" } as const, ...others] = message.content;
  const metadata = ownMetadata(first)["message"] as Fields | undefined;
  const block = withMetadata(first, "holdfast", { message: { ...metadata, [shape]: rest } });
  return { ...message, content: [block, ...others] };
}

export function messageRestOf(shape: ShapeName, { content }: Sayable): Fields {
  const [first] = content;
  const metadata = first === undefined ? undefined : (ownMetadata(first)["message"] as Fields);
  return (metadata?.[shape] ?? {}) as Fields;
}

/** The members that have a value, without those that are read. */
export function restOf(wire: object, read: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(asFields(wire)).filter(([name]) => !read.includes(name)));
}

/** A part that only its own side understands: left out of what others are sent. */
export function foreignBlock(shape: ShapeName, part: { readonly type: string }): ProviderBlock {
  return { type: `${shape}/${part.type}`, part: asFields(part) };
}

/** The part of such a block; null where it is of another side. */
function foreignPart(shape: ShapeName, block: ContentBlock): object | null {
  return block.type.startsWith(`${shape}/`) && "part" in block ? (block["part"] as object) : null;
}

/** What cannot be said here is named, so that other models know of it. */
export function placeholderBlock(name: string): ContentBlock {
  return { type: "text", text: `[${name}]` };
}

type TextPart = { type: "text"; text: string };

/**
 * The part that a target is sent for a block: its own part again, else `made` of the block with what was kept of the original,
 * else a text in its place, which is reported.
 */
export function sentPart<P extends object>(
  shape: ShapeName,
  block: ContentBlock,
  converted: P | null,
  omit: OnOmit,
): readonly (P | TextPart)[] {
  const part = (foreignPart(shape, block) as P | null) ?? withOriginal(shape, block, converted);
  if (part !== null) return [part];
  const text = placeholder(block, omit);
  return text === null ? [] : [{ type: "text", text }];
}

/** Plain text is written as such. */
export function plain<P extends { readonly type: string }>(parts: P[]): string | P[] {
  const [only] = parts;
  const isPlain = parts.length === 1 && only?.type === "text" && Object.keys(only).length === 2;
  return isPlain ? ((only as { readonly text?: string }).text ?? "") : parts;
}

/** A block in the place of one that the target cannot show, which is reported. */
function placeholder(block: ContentBlock, omit: OnOmit): string | null {
  omit(
    block.type,
    isMedia(block) ? `${block.mediaType} is not supported here` : "only its provider can read it",
  );
  return isMedia(block) ? `[${block.mediaType}]` : null;
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;

/** The bytes of a data URL; null for any other address, which only its own side can follow. */
export function fromDataUrl(url: string): { readonly mediaType: string; readonly data: string } | null {
  const [, mediaType, data] = DATA_URL.exec(url) ?? [];
  return mediaType === undefined || data === undefined ? null : { mediaType, data };
}
