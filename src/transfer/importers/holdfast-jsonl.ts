import { checkVersion } from "#log/codec";
import { LogError } from "#log/errors";
import { checkJsonObject, type Json, membersOf, objectText } from "#log/json/json-text";

/** The header of a conversation as `export --format jsonl` writes it; null when the line is none. */
export function holdfastHeader(
  line: string,
): { conversation: string; root: null; entries: number | null; origin: string | null } | null {
  const { value } = checkJsonObject(line);
  if (value["type"] !== "holdfast") return null;
  checkVersion(value["v"]);
  const { conversation, entries } = value;
  if (typeof conversation !== "string") throw new LogError("damaged", "The header names no conversation");
  const origin = isOrigin(value["origin"]) ? JSON.stringify(value["origin"]) : null;
  return { conversation, root: null, entries: typeof entries === "number" ? entries : null, origin };
}

function isOrigin(value: Json | undefined): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { conversation, entry, head } = value as { readonly [name: string]: Json };
  return typeof conversation === "string" && typeof entry === "string" && Number.isSafeInteger(head);
}

/** An entry line as a body. Its number is the store's to give, and the same again when nothing is missing. */
export function holdfastEntry(line: string): { body: string; seq: number | null } {
  const { text, value } = checkJsonObject(line);
  const { seq } = value;
  const members = membersOf(text).filter(({ name }) => name !== "seq");
  return { body: objectText(members), seq: typeof seq === "number" ? seq : null };
}
