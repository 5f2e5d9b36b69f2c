import { parseConversationId, parseSpaceId, type ConversationId, type SpaceId } from "#log/ids";
import { join } from "node:path";
import type { Disk } from "./disk/disk.ts";

// Some file systems fold case, some reserve ":" and the names of devices, most allow 255 bytes.
const UNSAFE = /[A-Z:]/g;
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;
const NAME_CHARS_MAX = 200; // leaves room in 255 for every suffix below
const PACKED = "%-"; // begins a name too long to be written letter by letter; no id starts with "-"
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const LOG = ".jsonl";

function percent(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16)}`;
}

/** An id as part of a file name: readable, reversible, and never two ids under one name. */
export function nameOf(id: string): string {
  const spelled = id.replaceAll(UNSAFE, percent);
  const name = DEVICES.test(spelled) ? percent(spelled) + spelled.slice(1) : spelled;
  return name.length <= NAME_CHARS_MAX ? name : PACKED + base32(Buffer.from(id));
}

/** The id a name stands for; null for a name this store did not give. */
function idOf(name: string): string | null {
  if (!name.startsWith(PACKED)) {
    const id = name.replaceAll(/%([0-9a-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return nameOf(id) === name ? id : null;
  }
  const id = unbase32(name.slice(PACKED.length)).toString("latin1");
  return nameOf(id) === name ? id : null;
}

export function logName(conversation: ConversationId): string {
  return nameOf(conversation) + LOG;
}

/** The conversation whose log has this name; null for every other file. */
export function conversationIn(file: string): ConversationId | null {
  if (file.startsWith(".") || !file.endsWith(LOG)) return null;
  return orNull(idOf(file.slice(0, -LOG.length)), parseConversationId);
}

export function spaceIn(folder: string): SpaceId | null {
  return folder.startsWith(".") ? null : orNull(idOf(folder), parseSpaceId);
}

function orNull<T>(id: string | null, parse: (id: string) => T): T | null {
  try {
    return id === null ? null : parse(id);
  } catch {
    return null;
  }
}

export function lockName(conversation: ConversationId): string {
  return `.${nameOf(conversation)}.lock`;
}

export function blobsName(conversation: ConversationId): string {
  return `${nameOf(conversation)}.blobs`;
}

/** Bytes set aside from this position of the log; `copy` tells apart those set aside from one position twice. */
export function tornName(conversation: ConversationId, position: number, copy: number): string {
  return `${nameOf(conversation)}.torn-${position}${copy === 0 ? "" : `.${copy}`}`;
}

/** A file that is being written and has not got its name yet. */
export function newbornName(conversation: ConversationId, unique: string): string {
  return `.${nameOf(conversation)}.new-${unique}`;
}

/** Whether a file beside the log belongs to this conversation and can hold its words. */
export function isLeftover(conversation: ConversationId, file: string): boolean {
  const name = nameOf(conversation);
  if (file.startsWith(`${name}.`)) return /^torn-\d+(?:\.\d+)?$/.test(file.slice(name.length + 1));
  return file.startsWith(`.${name}.`) && /^(?:new|lock)-[0-9a-f]+$/.test(file.slice(name.length + 2));
}

/** A file whose writer was cut off before it could give it its name. */
export function isTempFile(file: string): boolean {
  return /^\..+\.(?:new|lock)-[0-9a-f]+$/.test(file);
}

function base32(bytes: Uint8Array): string {
  let bits = "";
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => ALPHABET.charAt(Number.parseInt(group.padEnd(5, "0"), 2))).join("");
}

function unbase32(text: string): Buffer {
  let bits = "";
  for (const letter of text) bits += Math.max(ALPHABET.indexOf(letter), 0).toString(2).padStart(5, "0");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** Where one conversation lives, and what its log needs of the store around it. */
export interface LogLocation {
  readonly disk: Disk;
  /** The folder of its space. */
  readonly folder: string;
  readonly conversation: ConversationId;
  /** Whether this store keeps other writers away at the moment. */
  holdsLock(): boolean;
  /** Tells those who wait that something was written. */
  wake(): void;
}

export function logPath(location: Pick<LogLocation, "folder" | "conversation">): string {
  return join(location.folder, logName(location.conversation));
}

export function blobsPath(location: Pick<LogLocation, "folder" | "conversation">): string {
  return join(location.folder, blobsName(location.conversation));
}
