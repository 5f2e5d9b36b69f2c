import type { Entry } from "#log/entry";
import type { ContentBlock, Message, ToolCall } from "#log/message";
import type { Json } from "#log/json/json-text";
import { cut } from "./prior-budget.ts";

/** What can be said without a model of messages that are not carried word for word. */
export interface Outline {
  /** How many messages are left out. */
  readonly messages: number;
  /** The past was not read to its beginning: there are more. */
  readonly more: boolean;
  /** What the user said first, and what the user said after that, a line each; oldest first. */
  readonly first: readonly string[];
  readonly later: readonly string[];
  readonly tools: readonly { readonly name: string; readonly calls: number }[];
  readonly files: readonly string[];
}

const FIRST_REQUESTS = 2;
const FIRST_SHARE = 0.5; // of the characters; the other half is for what followed
const LINE_CHARS = 160;
const TOOLS_MAX = 30;
const FILES_MAX = 60;
const PATH_CHARS_MAX = 300;
const PATH_NAMES: ReadonlySet<string> = new Set([
  "path",
  "file",
  "file_path",
  "filePath",
  "filename",
  "notebook_path",
  "abs_path",
]);

interface OutlineWanted {
  readonly chars: number;
  /** There is more behind what was read. */
  readonly more: boolean;
  /** What was read begins where the conversation does. */
  readonly wholePast: boolean;
  /** What the user said first, where it was found apart. */
  readonly began: readonly string[];
}

/** Takes messages newest first, as a branch is read. */
export class OutlineReader {
  readonly #requests: string[] = [];
  readonly #tools = new Map<string, number>();
  readonly #files = new Set<string>();
  #messages: number = 0;

  /** A message that is left out; `text` is what it says. */
  add(message: Message, text: string): void {
    for (const block of message.content.toReversed()) this.#addCall(block);
    if (message.role === "toolResult" || text === "") return;
    this.#messages++;
    if (message.role === "user") this.#requests.push(text);
  }

  #addCall(block: ContentBlock): void {
    if (block.type !== "toolCall") return;
    this.#tools.set(block.name, (this.#tools.get(block.name) ?? 0) + 1);
    for (const path of pathsIn(block)) if (this.#files.size < FILES_MAX) this.#files.add(path);
  }

  /** What is known of them; null when nothing is left out. */
  result(wanted: OutlineWanted): Outline | null {
    const { began, more, chars } = wanted;
    if (this.#messages + began.length === 0) return null;
    const requests = [...began, ...this.#requests.toReversed()];
    const opening = wanted.wholePast ? FIRST_REQUESTS : began.length;
    const first = requests
      .slice(0, opening)
      .map((text) => cut(text, Math.floor((chars * FIRST_SHARE) / FIRST_REQUESTS)));
    const lines: string[] = [];
    let remaining = chars * (1 - FIRST_SHARE);
    // The newest of them lead to what is carried.
    for (const text of requests.slice(opening).toReversed()) {
      const line = cut(text.replaceAll(/\s+/g, " "), LINE_CHARS);
      remaining -= line.length;
      if (remaining < 0) break;
      lines.push(line);
    }
    const tools = [...this.#tools].map(([name, calls]) => ({ name, calls }));
    return {
      messages: this.#messages,
      more,
      first,
      later: lines.toReversed(),
      tools: tools.toSorted((one, other) => other.calls - one.calls).slice(0, TOOLS_MAX),
      files: [...this.#files].toReversed(),
    };
  }
}

/** The files a call names in the ways tools do. */
function pathsIn({ input }: ToolCall): readonly string[] {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return [];
  const named = Object.entries(input as { readonly [name: string]: Json });
  return named.flatMap(([name, value]) =>
    PATH_NAMES.has(name) && typeof value === "string" && value !== "" && value.length <= PATH_CHARS_MAX
      ? [value]
      : [],
  );
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ["image", "(an image)"],
  ["audio", "(a recording)"],
  ["file", "(a file)"],
]);

/** What a message says, in words; images, recordings and files are named. */
export function textOf(content: readonly ContentBlock[]): string {
  const [only] = content;
  // As most messages are; a prior context looks at hundreds.
  if (content.length === 1 && only?.type === "text") return only.text.trim();
  return content
    .flatMap((block) => (block.type === "text" ? block.text : (NAMED.get(block.type) ?? [])))
    .join("\n")
    .trim();
}

/** The first requests among a conversation's first entries. */
export function firstRequests(entries: Iterable<Entry>): readonly string[] {
  const texts: string[] = [];
  for (const entry of entries) {
    if (entry.type !== "message" || entry.message.role !== "user") continue;
    const text = textOf(entry.message.content);
    if (text !== "" && texts.length < FIRST_REQUESTS) texts.push(text);
  }
  return texts;
}
