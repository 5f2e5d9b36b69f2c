import { LogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { foreignProblem, isFields } from "./foreign-messages.ts";
import { readJson } from "#log/json/read-json";

/** A value of a column: its text, and whether the database says that it is JSON. */
export interface Cell {
  readonly text: string | null;
  readonly json: boolean;
}

/** What a row says, column by column. */
export interface MessageRow {
  readonly role: string | null;
  readonly content: Cell;
  readonly members: { readonly [member: string]: Cell };
}

const ALIKE: { readonly [role: string]: string } = {
  human: "user",
  ai: "assistant",
  bot: "assistant",
  model: "assistant",
};

/** A row as the message it holds: text, blocks, or a whole message. */
export function messageOfRow(row: MessageRow): Json {
  const content = contentOf(row.content);
  const message: Json =
    isFields(content) && typeof content["role"] === "string"
      ? content
      : { ...roleMember(row.role), content, ...membersOf(row.members) };
  const problem = foreignProblem(message);
  if (problem !== null) throw new LogError("invalid_entry", problem);
  return message;
}

function roleMember(role: string | null): { readonly role?: string } {
  return role === null ? {} : { role: ALIKE[role.toLowerCase()] ?? role };
}

/** Reads a column's content. Text is parsed as JSON only if it holds blocks or a message; otherwise a user typed it. */
function contentOf({ text, json }: Cell): Json {
  if (text === null) return null;
  if (json) return parseExact(text);
  if (!/^\s*[[{]/.test(text)) return text;
  const value = tryParse(text);
  const isBlocks =
    Array.isArray(value) &&
    value.length > 0 &&
    (value as readonly Json[]).every((block) => isFields(block) && typeof block["type"] === "string");
  const isMessage = isFields(value) && typeof value["role"] === "string" && "content" in value;
  return isBlocks || isMessage ? parseExact(text) : text;
}

function membersOf(members: MessageRow["members"]): { readonly [member: string]: Json } {
  const column: { [member: string]: Json } = {};
  for (const [member, { text, json }] of Object.entries(members)) {
    if (text === null || text === "") continue;
    column[member] = json || member === "tool_calls" ? parseExact(text) : text;
  }
  return column;
}

function tryParse(text: string): Json | undefined {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

/** Parses JSON whose every digit is kept, and refuses what would be rounded without a word. */
export function parseExact(text: string): Json {
  const value = tryParse(text);
  if (value === undefined) throw new LogError("invalid_entry", "is not valid JSON");
  const rounded = roundedNumber(text);
  if (rounded !== null)
    throw new LogError("invalid_entry", `has the number ${rounded}, which would be rounded`);
  return value;
}

const DIGITS_MAX = 17; // as many as the double nearest to any decimal needs

function roundedNumber(text: string): string | null {
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  for (const [number] of bare.matchAll(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g)) {
    const value = Number(number);
    if (!Number.isFinite(value)) return number;
    if (/^-?\d+$/.test(number) ? BigInt(number) !== BigInt(value) : significant(number) > DIGITS_MAX)
      return number;
  }
  return null;
}

function significant(number: string): number {
  return number
    .replace(/[eE].*/, "")
    .replaceAll(/[-.]/g, "")
    .replace(/^0+/, "").length;
}

const [SECONDS_MAX, MILLIS_MAX] = [100_000_000_000, 100_000_000_000_000]; // the years 5138, in seconds and in milliseconds

/** A time as databases write it, or a number since 1970 in seconds, milliseconds or microseconds. Without a zone it is UTC. */
export function timeOf(text: string | null): string | null {
  if (text === null) return null;
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return isoOf(millisOf(Number(text)), text);
  const spaced = text.trim().replace(" ", "T");
  const zoned = /(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(spaced) || !spaced.includes("T") ? spaced : `${spaced}Z`;
  return isoOf(Date.parse(zoned.replace(/([+-]\d\d)$/, "$1:00")), text);
}

function millisOf(number: number): number {
  if (number < SECONDS_MAX) return number * 1_000;
  return number < MILLIS_MAX ? number : number / 1_000;
}

function isoOf(millis: number, text: string): string {
  const time = new Date(millis);
  if (Number.isNaN(time.getTime())) throw new LogError("invalid_entry", `has the invalid time "${text}"`);
  return time.toISOString();
}

/** Whether a column says yes, as databases write it. */
export function isYes(text: string | null): boolean {
  return text !== null && /^(?:1|t|true|y|yes)$/i.test(text.trim());
}

/** Which columns of a table of messages say what. */
export interface TableColumns {
  readonly conversation: string;
  /** By which rows of a conversation are ordered; one that is unique in it comes last. */
  readonly order: readonly string[];
  /** Absent where the content is whole messages. */
  readonly role: string | null;
  readonly content: string;
  readonly created: string | null;
  /** The space of each conversation: only where it was said which column that is. */
  readonly space: string | null;
  /** Of a message: its id there, and whether people are not shown it. */
  readonly message: string | null;
  readonly internal: string | null;
  /** Of a conversation: the one that caused it, and its mailbox. */
  readonly parent: string | null;
  readonly mailbox: string | null;
  /** Members of messages that have a column of their own, as Chat Completions has them. */
  readonly members: readonly string[];
}

const CONVERSATION = "conversation_id conversation chat_id thread_id session_id chat thread session".split(
  " ",
);
const ORDINAL =
  "ordinal message_number message_index seq sequence position idx index number message_seq".split(" ");
const ROLE = ["role", "author_role", "sender_role"];
const CONTENT = "content message body text payload parts data".split(" ");
const CREATED = "created_at created inserted_at timestamp sent_at time ts".split(" ");
const MESSAGE = ["message_id", "message_uuid"];
const INTERNAL = ["internal", "is_internal"];
const PARENT =
  "parent_conversation_id parent_conversation parent_chat_id parent_thread_id parent_session_id".split(" ");
const MAILBOX = ["mailbox", "mailbox_id"];
const MEMBERS = ["tool_calls", "tool_call_id", "name"];

/** A store's own table looks like one of messages, and may be in the same database. */
const OWN = ["conversation", "segment", "payload"];

const COLUMN_OPTIONS = [
  "conversation",
  "ordinal",
  "role",
  "content",
  "created",
  "space",
  "message",
  "internal",
  "parent",
  "mailbox",
] as const;

/** Columns of a table of messages by what they say. */
export interface ColumnNames {
  readonly conversation?: string;
  readonly ordinal?: string;
  readonly role?: string;
  readonly content?: string;
  readonly created?: string;
  readonly space?: string;
  readonly message?: string;
  readonly internal?: string;
  readonly parent?: string;
  readonly mailbox?: string;
}

/** Reads `conversation=chat_id,ordinal=n,…`. */
export function parseColumns(text: string): ColumnNames {
  const output: { [name: string]: string } = {};
  for (const part of text.split(",").filter(Boolean)) {
    const [name = "", column = ""] = part.split("=").map((side) => side.trim());
    if (!(COLUMN_OPTIONS as readonly string[]).includes(name) || column === "")
      throw new LogError(
        "invalid_request",
        `Invalid --columns "${part}". Use any of ${COLUMN_OPTIONS.map((one) => `${one}=COLUMN`).join(",")}.`,
      );
    output[name] = column;
  }
  return output;
}

/** The columns of a table of messages: as given, else by the names that they usually have. Null where some is not found. */
export function columnsOf(columns: readonly string[], input: ColumnNames = {}): TableColumns | null {
  if (OWN.every((column) => columns.includes(column))) return null;
  const usual = (names: readonly string[]): string | null =>
    names
      .map((name) => columns.find((column) => plain(column) === name))
      .find((column) => column !== undefined) ?? null;
  const pick = (name: keyof ColumnNames, names: readonly string[]): string | null =>
    input[name] ?? usual(names);
  const [conversation, content] = [pick("conversation", CONVERSATION), pick("content", CONTENT)];
  const [role, created] = [pick("role", ROLE), pick("created", CREATED)];
  const ordinal = pick("ordinal", ORDINAL);
  const id = usual(["id", "message_id"]);
  const order = ordinal === null ? [created, id].filter((one) => one !== null) : [ordinal];
  if (conversation === null || content === null || order.length === 0) return null;
  const members = MEMBERS.filter((member) => columns.includes(member));
  return {
    conversation,
    order,
    role,
    content,
    created,
    space: input.space ?? null,
    message: pick("message", MESSAGE),
    internal: pick("internal", INTERNAL),
    parent: pick("parent", PARENT),
    mailbox: pick("mailbox", MAILBOX),
    members,
  };
}

/** `conversationId` and `conversation_id` are the same name. */
function plain(column: string): string {
  return column.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}

/** Returns the names that the table does not have, so that the error is ours and not the database's. */
export function unknownColumns(columns: readonly string[], input: ColumnNames): readonly string[] {
  return Object.values(input).filter((column: string) => !columns.includes(column));
}
