import type { Json } from "../../../log/json-text.ts";

/** One record of a transcript. Others write these files, so every field is looked at before it is believed. */
export type Fields = { readonly [name: string]: Json };

export function fieldsIn(value: Json | undefined): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

export function textIn(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

export function countIn(value: Json | undefined): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The objects in a list; anything else in it, or anything but a list, is passed over. */
export function listIn(value: Json | undefined): readonly Fields[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Json[]).map(fieldsIn).filter((item) => item !== null);
}

/** A record from its line, or null when the line is torn, damaged or no object. */
export function parseFields(line: string): Fields | null {
  if (!line.trimStart().startsWith("{")) return null;
  try {
    return fieldsIn(JSON.parse(line) as Json);
  } catch {
    return null;
  }
}

const TITLE_CHARS_MAX = 80; // one line in a list

/** A title from what was said or given: one line, not too long, no character cut in half. */
export function titleFrom(text: string | null): string | null {
  // Far more than is kept, so that long prompts are not gone through to their end.
  const line = (text ?? "").slice(0, 1_000).trim().replaceAll(/\s+/g, " ");
  return line === "" ? null : Array.from(line).slice(0, TITLE_CHARS_MAX).join("").toWellFormed();
}

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Ids become file names, and they come from outside: nothing but a UUID passes. */
export function isSessionId(id: string): boolean {
  return SESSION_ID.test(id);
}
