import type { Bodies, EntryBody, EntryType } from "./entry.ts";
import { checkShape, FACT_TYPES, isEntryType, isNode, NODE_TYPES } from "./entry-types.ts";
import { LogError } from "./errors.ts";
import { type EntryId, parseConversationId, parseEntryId } from "./ids.ts";
import {
  checkJsonObject,
  type Json,
  type JsonObject,
  membersOf,
  objectText,
  writeJsonObject,
} from "./json/json-text.ts";
import type { Fields } from "./table/shapes.ts";

/** A body that passed the door: parsed for the rules, its payload kept as the text it came in. */
export interface Draft {
  readonly type: EntryType;
  readonly node: boolean;
  readonly id?: EntryId;
  readonly parentId?: EntryId | null;
  readonly time?: string;
  readonly payload: string;
  readonly body: Partial<Bodies[EntryType]> & { readonly [name: string]: unknown };
}

const ENVELOPE: ReadonlySet<string> = new Set(["id", "parentId", "time", "type", "seq"]);
// The first two would hide an entry's own; the last opens the line that commits a batch in a file.
const RESERVED: ReadonlySet<string> = new Set(["v", "payload", "commit"]);
const TIME_SHAPE =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Takes one body, as a value or as JSON text whose every digit matters, and refuses what the log cannot mean. */
export function parseBody(input: EntryBody | string): Draft {
  return readBody(input).draft;
}

/** The same with the body's text, which is what an append key stands for: read together, so that they are one body. */
export function readBody(input: EntryBody | string): { readonly draft: Draft; readonly text: string } {
  const written = typeof input === "string" ? null : writeJsonObject(input);
  const { text, value } = written ?? checkJsonObject(input as string);
  const type = checkType(value["type"]);
  const payload = (written && payloadAfterType(written, type)) ?? payloadOf(text);
  checkShape(type, value);
  const id = value["id"];
  const parentId = value["parentId"];
  const node = isNode({ type, origin: value["origin"] });
  checkRelations(value, { type, node });
  const draft: { -readonly [K in keyof Draft]: Draft[K] } = { type, node, payload, body: value };
  if (id !== undefined) draft.id = parseEntryId(id);
  if (parentId !== undefined) draft.parentId = parentId === null ? null : parseEntryId(parentId);
  if (value["time"] !== undefined) draft.time = checkTime(value["time"]);
  return { draft, text };
}

/** The body without its envelope, every other member as the text it came in. */
function payloadOf(text: string): string {
  const members = membersOf(text);
  checkMembers(members.map((member) => member.name));
  return objectText(members.filter((member) => !ENVELOPE.has(member.name)));
}

/** The same for a value we have written ourselves, whose type mostly stands first and alone; null when it does not. */
function payloadAfterType({ text, value }: JsonObject, type: EntryType): string | null {
  const opening = `{"type":"${type}",`;
  if (!text.startsWith(opening)) return null;
  for (const name in value) if (name !== "type" && (ENVELOPE.has(name) || RESERVED.has(name))) return null;
  return `{${text.slice(opening.length)}`;
}

function checkType(type: Json | undefined): EntryType {
  if (typeof type === "string" && isEntryType(type)) return type;
  const typeNames = [...NODE_TYPES, ...FACT_TYPES].join(", ");
  const problem =
    type === undefined ? 'The entry has no "type"' : `Unknown entry type ${JSON.stringify(type)}`;
  throw new LogError("invalid_entry", `${problem}. Use one of ${typeNames}.`);
}

function checkMembers(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (name === "seq")
      throw new LogError("invalid_entry", 'Leave "seq" out of the entry: the store assigns it');
    if (RESERVED.has(name))
      throw new LogError("invalid_entry", `Leave "${name}" out of the entry: it is a reserved field`);
    // Inside a payload duplicates are kept as they are; here they would decide what the entry is.
    if (seen.has(name)) throw new LogError("invalid_entry", `The entry has the field "${name}" twice`);
    seen.add(name);
  }
}

function checkRelations(value: Fields, kind: { type: EntryType; node: boolean }): void {
  if (!kind.node && value["parentId"] !== undefined && value["parentId"] !== null) {
    throw new LogError(
      "invalid_entry",
      `An entry of type ${kind.type} annotates the log and cannot have a parent. Leave "parentId" out.`,
    );
  }
  if (kind.type !== "conversation") return;
  const origin = value["origin"];
  if (origin === undefined) return;
  const { conversation, entry, head } = origin as { conversation?: Json; entry?: Json; head?: Json };
  parseConversationId(conversation);
  parseEntryId(entry);
  if (!Number.isSafeInteger(head)) throw new LogError("invalid_entry", "origin.head must be a whole number");
}

function checkTime(time: Json | undefined): string {
  if (typeof time === "string" && TIME_SHAPE.test(time)) return time;
  throw new LogError(
    "invalid_entry",
    "time must be an ISO 8601 date and time with a zone, such as 2026-01-31T12:00:00.000Z",
  );
}
