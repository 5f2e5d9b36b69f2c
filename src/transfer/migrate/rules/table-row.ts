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
      : { ...role(row.role), content, ...membersOf(row.members) };
  const problem = foreignProblem(message);
  if (problem !== null) throw new LogError("invalid_entry", problem);
  return message;
}

function role(given: string | null): { readonly role?: string } {
  return given === null ? {} : { role: ALIKE[given.toLowerCase()] ?? given };
}

/** What is no JSON is text; JSON in a column of text counts where it is blocks or a message, else somebody typed it. */
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
  const found: { [member: string]: Json } = {};
  for (const [member, { text, json }] of Object.entries(members)) {
    if (text === null || text === "") continue;
    found[member] = json || member === "tool_calls" ? parseExact(text) : text;
  }
  return found;
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
  if (value === undefined) throw new LogError("invalid_entry", "is no JSON");
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
  if (Number.isNaN(time.getTime()))
    throw new LogError("invalid_entry", `has the time "${text}", which is none`);
  return time.toISOString();
}

/** Whether a column says yes, as databases write it. */
export function isYes(text: string | null): boolean {
  return text !== null && /^(?:1|t|true|y|yes)$/i.test(text.trim());
}
