import { FORMAT_VERSION } from "#log/entry";
import { LogError } from "#log/errors";
import { checkJsonObject, type Json } from "#log/json/json-text";
import { checkVersion } from "#log/codec";

/** More than anyone has in one file; whoever reads it holds something of each. */
export const CONVERSATIONS_MAX = 10_000;

const LOG_OPENING = '{"type":"log",';

/** How the entries of one conversation begin in a file: the header itself, or a line of a bundle of several. */
export interface LogStart {
  readonly conversation: string;
  readonly title: string | null;
  readonly entries: number;
  /** Whether the links are those of the log itself, or made for the file. */
  readonly links: "own" | "made";
  /** For a fork that is written with all it inherited: where it was forked from. */
  readonly origin?: object;
}

/** When a file was made, and whether it is to be read only: redacted, it is not what was said. */
export interface FileMade {
  readonly exportedAt: string;
  readonly redacted: boolean;
}

/** The first line of a file with one conversation. */
export function fileHeader({ exportedAt, redacted }: FileMade, start: LogStart): string {
  const { conversation, ...more } = start;
  const opening = { type: "holdfast", v: FORMAT_VERSION, conversation, exportedAt, ...more };
  return JSON.stringify({ ...opening, ...redactedMember(redacted) });
}

function redactedMember(redacted: boolean): { readonly redacted?: true } {
  return redacted ? { redacted } : {};
}

/** The first line of a file with several. */
export function bundleHeader({ exportedAt, redacted }: FileMade, conversations: number): string {
  const opening = { type: "holdfast", v: FORMAT_VERSION, exportedAt, conversations };
  return JSON.stringify({ ...opening, ...redactedMember(redacted) });
}

/** The line that stands before the entries of each of several conversations. */
export function logLine(start: LogStart): string {
  return JSON.stringify({ type: "log", ...start });
}

export interface ReadHeader {
  readonly v: number;
  /** How many conversations the file says it has. */
  readonly conversations: number;
  /** Null where each has a line of its own. */
  readonly first: ReadStart | null;
}

/** The beginning of a conversation as a file says it. */
export interface ReadStart {
  readonly conversation: string;
  /** How many entries it says it has. */
  readonly entries: number | null;
  readonly linked: boolean;
  /** As text. */
  readonly origin: string | null;
}

/** What the first line of a file says; null when it is none of ours. */
export function headerIn(line: string): ReadHeader | null {
  const { value } = checkJsonObject(line);
  if (value["type"] !== "holdfast") return null;
  const v = checkVersion(value["v"]);
  const { conversations } = value;
  if (conversations === undefined) return { v, conversations: 1, first: startOf(value) };
  if (typeof conversations !== "number" || !Number.isSafeInteger(conversations) || conversations < 1)
    throw new LogError("damaged", "The header does not say how many conversations there are");
  return { v, conversations, first: null };
}

/** The conversation that begins with a line; null when it is a line of another kind. */
export function logStartIn(line: string): ReadStart | null {
  return line.startsWith(LOG_OPENING) ? startOf(checkJsonObject(line).value) : null;
}

function startOf(value: { readonly [name: string]: Json }): ReadStart {
  const { conversation, entries, links } = value;
  if (typeof conversation !== "string") throw new LogError("damaged", "The header names no conversation");
  const origin = isOrigin(value["origin"]) ? JSON.stringify(value["origin"]) : null;
  return {
    conversation,
    entries: typeof entries === "number" ? entries : null,
    linked: links !== undefined,
    origin,
  };
}

function isOrigin(value: Json | undefined): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { conversation, entry, head } = value as { readonly [name: string]: Json };
  return typeof conversation === "string" && typeof entry === "string" && Number.isSafeInteger(head);
}
