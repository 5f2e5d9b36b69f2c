import type { Json } from "#log/json/json-text";
import type { Ending } from "./ending.ts";
import type { EndingClass } from "#log/ending-class";

/** An error as an agent gives it. */
export interface EndError {
  readonly code: number | string | null;
  readonly message: string;
  readonly data: Json;
}

/** How an attempt ended, in the agent's own terms; the part of it that says why. */
export interface EndSigns {
  readonly stopReason: string | null;
  readonly error: EndError | null;
  /** The process is gone. */
  readonly exited: boolean;
}

interface Signs {
  readonly code: number | string | null;
  readonly statuses: readonly number[];
  readonly kinds: readonly string[];
  readonly text: string;
}

const NESTED_MAX = 4; // error data is shallow; anything deeper is payload

/** Turns what an agent said at the end into one of the closed list. Data is read before prose. */
export function classifyEnd(table: EndingTable, end: EndSigns): Ending {
  const { error } = end;
  if (error === null) {
    const endingClass = end.exited ? "crashed" : stopClass(end.stopReason);
    return {
      class: endingClass,
      message: endingClass === "completed" ? "" : (end.stopReason ?? "The agent process exited"),
      resetAtMs: null,
    };
  }
  const members = [...membersIn(error.data, 0)];
  const signs = signsOf(error, members);
  const rule = table.find((one) => fits(one, signs));
  const endingClass: EndingClass = rule?.class ?? (end.exited ? "crashed" : "failed");
  const resets = endingClass === "limit" || endingClass === "credit" || endingClass === "overloaded";
  return {
    class: endingClass,
    message: endMessage(error.message, members),
    resetAtMs: resets ? resetOf(members, signs.text) : null,
  };
}

function stopClass(stopReason: string | null): EndingClass {
  if (stopReason === null) return "failed";
  return /^(?:cancell?ed|interrupted|aborted)$/i.test(stopReason) ? "cancelled" : "completed";
}

function fits(rule: EndingRule, signs: Signs): boolean {
  switch (rule.on) {
    case "code":
      return signs.code !== null && rule.is.includes(signs.code);
    case "status":
      return signs.statuses.some((status) => rule.is.includes(status));
    case "kind":
      return signs.kinds.some((kind) => rule.is.includes(kind));
    case "text":
      return rule.like.test(signs.text);
  }
}

interface DataMember {
  readonly name: string;
  readonly value: Json;
}

function* membersIn(data: Json, depth: number): Generator<DataMember> {
  if (typeof data !== "object" || data === null || depth > NESTED_MAX) return;
  if (isList(data)) {
    for (const item of data) yield* membersIn(item, depth + 1);
    return;
  }
  for (const [name, value] of Object.entries(data)) {
    yield { name: snake(name), value };
    yield* membersIn(value, depth + 1);
  }
}

function isList(data: Json): data is readonly Json[] {
  return Array.isArray(data);
}

function snake(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}

const STATUS_NAMES = new Set(["status", "status_code", "http_status", "http_status_code"]);
const KIND_NAMES = new Set([
  "error_kind",
  "error_type",
  "error_name",
  "type",
  "error",
  "kind",
  "terminal_reason",
]);
/** A vendor puts its own name in front. */
const KIND_NAME = /(?:^|_)error_info$/;
const TEXT_NAMES = new Set(["message", "details", "detail", "error", "reason"]);
const STATUS_IN_TEXT =
  /\b(?:api error:?|status(?: code)?:?|http|rejected|repeated|error:?) \(?([45]\d\d)\b/gi;

function signsOf(error: EndError, members: readonly DataMember[]): Signs {
  const statuses: number[] = [];
  const kinds: string[] = typeof error.code === "string" ? [snake(error.code)] : [];
  const texts = [error.message];
  for (const { name, value } of members) {
    if (STATUS_NAMES.has(name) && typeof value === "number") statuses.push(value);
    if (KIND_NAMES.has(name) || KIND_NAME.test(name)) kinds.push(...kindsOf(value));
    if (TEXT_NAMES.has(name) && typeof value === "string") texts.push(value);
  }
  const text = texts.join("\n");
  for (const match of text.matchAll(STATUS_IN_TEXT)) statuses.push(Number(match[1]));
  if (typeof error.code === "number" && error.code >= 400 && error.code < 600) statuses.push(error.code);
  return { code: error.code, statuses, kinds, text };
}

/** A kind is a word, or an object whose only member is named by it. */
function kindsOf(value: Json): readonly string[] {
  if (typeof value === "string") return [snake(value)];
  if (typeof value !== "object" || value === null || isList(value)) return [];
  return Object.keys(value).map((name) => snake(name));
}

/** What to show people: "Internal error" says less than what stands beside it. */
function endMessage(message: string, members: readonly DataMember[]): string {
  if (!/^internal error$/i.test(message.trim()) && message.trim() !== "") return message;
  const member = members.find(({ name, value }) => TEXT_NAMES.has(name) && typeof value === "string");
  return typeof member?.value === "string" ? member.value : message;
}

const RESET_NAMES = new Set(["resets_at", "reset_at"]);
const SECONDS_MAX = 100_000_000_000; // as ms this is 1973: a smaller number counts seconds

/** When the limit ends, where that is said so that it needs no clock and no time zone; "resets 3pm" does. */
function resetOf(members: readonly DataMember[], text: string): number | null {
  for (const { name, value } of members) {
    if (!RESET_NAMES.has(name)) continue;
    const at = typeof value === "number" ? inMs(value) : typeof value === "string" ? isoMs(value) : null;
    if (at !== null) return at;
  }
  const epoch = /limit reached\|(\d{9,13})\b/.exec(text)?.[1];
  return epoch === undefined ? isoMs(text) : inMs(Number(epoch));
}

function inMs(time: number): number | null {
  if (!Number.isFinite(time) || time <= 0) return null;
  return time < SECONDS_MAX ? Math.round(time * 1_000) : Math.round(time);
}

const ISO = /\b(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?(?:Z|([+-])(\d\d):?(\d\d))/;

/** The first moment written with its zone. */
function isoMs(text: string): number | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59) return null;
  const fraction = Number((match[7] ?? "0").padEnd(3, "0"));
  const offset = (match[8] === "-" ? -1 : 1) * (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0));
  return (
    ((daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute - offset) * 60_000 +
    second * 1_000 +
    fraction
  );
}

/** Days from 1970-01-01 in the Gregorian calendar, the year taken to begin in March so that leap days come last. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return (
    era * 146_097 +
    yearOfEra * 365 +
    Math.floor(yearOfEra / 4) -
    Math.floor(yearOfEra / 100) +
    dayOfYear -
    719_468
  );
}

/** One line of a table of endings: where to look, what to find there, what it means. */
type EndingRule =
  | { readonly on: "code"; readonly is: readonly (number | string)[]; readonly class: EndingClass }
  | { readonly on: "status"; readonly is: readonly number[]; readonly class: EndingClass }
  | { readonly on: "kind"; readonly is: readonly string[]; readonly class: EndingClass }
  | { readonly on: "text"; readonly like: RegExp; readonly class: EndingClass };

/** What an agent means by what it says at the end. Rules are tried in order and the first that fits decides. */
export type EndingTable = readonly EndingRule[];

/** The status of the wire says more than the type a client library puts on it: a 529 is typed `rate_limit`. */
export const STATUS_ENDINGS: EndingTable = [
  { on: "status", is: [529, 500, 502, 503, 504], class: "overloaded" },
  { on: "status", is: [401, 403], class: "auth" },
  { on: "status", is: [402], class: "credit" },
  { on: "status", is: [413], class: "too_long" },
  { on: "status", is: [410], class: "expired" },
];

/** Apart from the other statuses: what is no limit may come as a 429, and what says so better is tried first. */
export const TOO_MANY: EndingTable = [{ on: "status", is: [429], class: "limit" }];

/** The codes of JSON-RPC errors as agents use them. */
export const CODE_ENDINGS: EndingTable = [
  { on: "code", is: [-32000], class: "auth" },
  { on: "code", is: [-32002], class: "lost" },
];

/** Statuses and codes, without anybody's words: for an upstream that brings no table. */
export const PLAIN_ENDINGS: EndingTable = [...STATUS_ENDINGS, ...TOO_MANY, ...CODE_ENDINGS];
