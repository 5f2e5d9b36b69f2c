import { subjectOf } from "#agent/tools/folder-path";
import {
  type PermissionRule,
  DEFAULT_POLICY,
  type Decision,
  type Subject,
  decide,
} from "#agent/tools/permissions";
import type { Host } from "#turn/host";
import type { Io } from "#edges/cli/command";
import type { ChatInput } from "./chat-input.ts";
import type { Printer } from "#edges/cli/terminal/printer";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { fieldsIn, textIn, type Fields } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { counted } from "#edges/cli/terminal/terminal";
import type { CallToDecide } from "#agent/agent-options";

interface AskParts {
  readonly io: Io;
  readonly printer: Printer;
  readonly input: ChatInput;
  readonly cwd: string;
  /** Allows calls like this one from now on; left out, every call is asked for. */
  readonly always?: (rule: PermissionRule) => Promise<void>;
}

type Word = "allow" | "deny" | "always";

/** Asks at the keyboard. Whoever leaves without an answer finds the question again. */
export function askPerson(parts: AskParts): NonNullable<Host["onPermission"]> {
  const { io, printer, input, cwd } = parts;
  return async ({ tool, input: toolInput }, signal) => {
    const rule = parts.always === undefined ? null : alwaysRule(tool, await subjectOf(tool, toolInput, cwd));
    printer.question(await questionText({ tool, input: toolInput, cwd }));
    for (;;) {
      printer.hold();
      const reply = await input
        .answer(io.out.style.cyan(promptText(rule)), (text) => wordIn(text, rule) !== null, signal)
        .finally(() => printer.letGo());
      if (reply === "left") return "later";
      if (reply === "nobody") {
        printer.fault(`${tool} was denied: it requires an answer, but the next line is a message`);
        return reply;
      }
      if (io.keyboard === undefined && !io.stdinIsTerminal) printer.you(reply.text);
      const word = wordIn(reply.text, rule);
      if (word === "always" && rule !== null) await parts.always?.(rule);
      if (word !== null) return word === "deny" ? "deny" : "allow";
      printer.notice(
        `Please answer y or n${rule === null ? "" : `, or a for always (${ruleText(rule)}, in this conversation)`}; Ctrl-C stops the turn, Ctrl-D leaves the question for later.`,
      );
    }
  };
}

function promptText(rule: PermissionRule | null): string {
  return rule === null ? "Allow it? [y/n] " : `Allow it? [y/n, a: always ${ruleText(rule)}] `;
}

function wordIn(text: string, rule: PermissionRule | null): Word | null {
  const word = text.trim().toLowerCase();
  if (word === "y" || word === "yes") return "allow";
  if (word === "n" || word === "no") return "deny";
  return rule !== null && (word === "a" || word === "always") ? "always" : null;
}

const CHARS_MAX = 4_000;
const FILE_BYTES_MAX = 2_000_000; // a larger one is not read for a question

/** What a call is to be judged by. */
interface PermissionRequest {
  readonly tool: string;
  readonly input: Json;
  /** Where it is worked on. */
  readonly cwd: string;
}

/** What a tool wants to do, whole, and what that means for what is there now. */
export async function questionText(request: PermissionRequest): Promise<string> {
  const { tool, input } = request;
  const fields = fieldsIn(input) ?? {};
  const [path, command, content] = ["path", "command", "content"].map((name) => textIn(fields[name]));
  const [before, after] = [textIn(fields["old"]), textIn(fields["new"])];
  const outside = await outsideText(request);
  if (tool === "shell" && typeof command === "string") return `shell wants to run:\n${preview(command)}`;
  if (tool === "write" && typeof path === "string" && typeof content === "string")
    return writeText(await fileAt(request.cwd, path), { path, outside, content });
  if (tool === "edit" && typeof path === "string" && before !== null && after !== null)
    return editText(await fileAt(request.cwd, path), { path: `${path}${outside}`, before, after });
  if ((tool === "read" || tool === "search") && outside !== "")
    return `${tool} wants to look at ${path ?? "."}${outside}${tool === "search" ? `:\n${preview(JSON.stringify(input))}` : ""}`;
  return `${tool} wants to run${outside} with:\n${preview(JSON.stringify(input))}`;
}

/** What is there now: its text, that it is no text, or nothing. */
type FileState = { readonly text: string } | "other" | "nothing";

async function fileAt(cwd: string, path: string): Promise<FileState> {
  const whole = resolve(cwd, path);
  const stats = await stat(whole).catch(() => null);
  if (stats === null) return "nothing";
  if (!stats.isFile() || stats.size > FILE_BYTES_MAX) return "other";
  const text = await readFile(whole, "utf8").catch(() => null);
  return text === null || text.includes("\0") ? "other" : { text };
}

async function outsideText({ tool, input, cwd }: PermissionRequest): Promise<string> {
  const subject = await subjectOf(tool, input, cwd);
  if (subject.kind !== "path" || subject.inside) return "";
  const leads = subject.real === subject.path ? "" : ` (it leads to ${subject.real})`;
  return `${leads}, outside of ${cwd}`;
}

function writeText(
  fileState: FileState,
  { path, outside, content }: { readonly path: string; readonly outside: string; readonly content: string },
): string {
  const size = counted(content.length, "character");
  if (fileState === "nothing")
    return content === ""
      ? `write wants to write ${path}, new and empty${outside}`
      : `write wants to write ${path}, new, with ${size}${outside}:\n${preview(content)}`;
  if (fileState === "other")
    return `write wants to replace ${path}, which is not text, with ${size}${outside}:\n${preview(content)}`;
  const now = counted(fileState.text.length, "character");
  if (content === "") return `write wants to empty ${path}, which has ${now} now${outside}`;
  if (fileState.text === content) return `write wants to write ${path} without changes (${now})${outside}`;
  return `write wants to replace ${path} (${now} now) with ${size}${outside}:\n${preview(content)}`;
}

function editText(
  fileState: FileState,
  { path, before, after }: { readonly path: string; readonly before: string; readonly after: string },
): string {
  const fails = (reason: string): string =>
    `edit wants to change ${path}, and will fail: ${reason}.\n${preview(marked("-", before))}\n${preview(marked("+", after))}`;
  if (fileState === "nothing") return fails("there is no such file");
  if (fileState === "other") return fails("it is not text");
  const position = fileState.text.indexOf(before);
  if (before === "" || position === -1) return fails("the text to replace does not occur");
  if (fileState.text.includes(before, position + 1))
    return fails("the text to replace occurs more than once");
  const { line, rows } = changedLines(fileState.text, { position, length: before.length, by: after });
  return `edit wants to change ${path} at line ${line}:\n${preview(rows.join("\n"))}`;
}

function marked(mark: string, text: string): string {
  return text
    .split("\n")
    .map((line) => `${mark} ${line}`)
    .join("\n");
}

/** An answer to a part of it would be an answer to something else, so what is not shown is said. */
function preview(text: string): string {
  if (text.length <= CHARS_MAX) return text;
  return `${text.slice(0, CHARS_MAX)}\n[${text.length - CHARS_MAX} more characters are not shown]`;
}

const AROUND = 2; // lines that stay, before and behind

/** A stretch of a text, and what takes its place. */
interface Change {
  readonly position: number;
  readonly length: number;
  readonly by: string;
}

/** The lines a change is about, as a diff, and the first of them that changes. */
export function changedLines(
  text: string,
  { position, length, by }: Change,
): { readonly line: number; readonly rows: readonly string[] } {
  const start = text.lastIndexOf("\n", position - 1) + 1;
  const next = text.indexOf("\n", position + length);
  const end = next === -1 ? text.length : next;
  const old = text.slice(start, end).split("\n");
  const fresh = (text.slice(start, position) + by + text.slice(position + length, end)).split("\n");
  let prefixLength = 0;
  while (prefixLength < Math.min(old.length, fresh.length) && old[prefixLength] === fresh[prefixLength])
    prefixLength++;
  let tail = 0;
  const shorterLength = Math.min(old.length, fresh.length) - prefixLength;
  while (tail < shorterLength && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++;
  const [before, after] = [
    text.slice(0, start).split("\n").slice(0, -1),
    text
      .slice(end + 1)
      .replace(/\n$/, "")
      .split("\n"),
  ];
  const suffix = old.slice(old.length - tail);
  const prefixed = (mark: string, lines: readonly string[]): readonly string[] =>
    lines.map((line) => `${mark} ${line}`);
  return {
    line: before.length + prefixLength + 1,
    rows: [
      ...prefixed(" ", [...before, ...old.slice(0, prefixLength)].slice(-AROUND)),
      ...prefixed("-", old.slice(prefixLength, old.length - tail)),
      ...prefixed("+", fresh.slice(prefixLength, fresh.length - tail)),
      ...prefixed(" ", (end >= text.length - 1 ? suffix : [...suffix, ...after]).slice(0, AROUND)),
    ],
  };
}

/** The member of a conversation's config that says what was allowed for good. */
const MEMBER = "permissions";

/** The rules a conversation has been given; whatever is no rule says nothing. */
export function rulesIn(config: Fields): readonly PermissionRule[] {
  const stored = config[MEMBER];
  return Array.isArray(stored) ? (stored as readonly Json[]).flatMap(ruleIn) : [];
}

function ruleIn(stored: Json): readonly PermissionRule[] {
  const { tool, pattern, inside } = fieldsIn(stored) ?? {};
  const name = textIn(tool);
  // Only what a person allowed is kept there.
  if (name === null || fieldsIn(stored)?.["decision"] !== "allow") return [];
  const patternText = textIn(pattern);
  if (pattern !== undefined && patternText === null) return [];
  return [
    {
      tool: name,
      ...(patternText === null ? {} : { pattern: patternText }),
      ...(inside === true ? { inside } : {}),
      decision: "allow",
    },
  ];
}

/** The config with one rule more. */
export function withRule(config: Fields, rule: PermissionRule): Fields {
  const before = Array.isArray(config[MEMBER]) ? (config[MEMBER] as readonly Json[]) : [];
  return { ...config, [MEMBER]: [...before, { ...rule }] };
}

/** The rule that allows calls like this one from now on; null where none would. */
export function alwaysRule(tool: string, subject: Subject): PermissionRule | null {
  const rule = ruleFor(tool, subject);
  // A star in a name would allow more than what was asked for.
  if (rule.pattern?.includes("*") === true || tool.includes("*")) return null;
  return decide({ rules: [rule], otherwise: "ask" }, { tool, subject }) === "allow" ? rule : null;
}

function ruleFor(tool: string, subject: Subject): PermissionRule {
  if (subject.kind === "command") return { tool, pattern: subject.command.trim(), decision: "allow" };
  if (subject.kind === "none") return { tool, decision: "allow" };
  return subject.inside
    ? { tool, inside: true, decision: "allow" }
    : { tool, pattern: subject.path, decision: "allow" };
}

function ruleText({ tool, pattern, inside }: PermissionRule): string {
  if (inside === true) return `${tool} in this folder`;
  if (pattern === undefined) return tool;
  return tool === "shell" ? "this very command" : `${tool} of this path`;
}

/** What may run here without a question: the default, and what a person allowed for good in this conversation. */
export class AlwaysRules {
  #rules: readonly PermissionRule[];

  constructor(rules: readonly PermissionRule[]) {
    this.#rules = rules;
  }

  add(rule: PermissionRule): void {
    this.#rules = [...this.#rules, rule];
  }

  async decide({ tool, input, cwd }: CallToDecide): Promise<Decision> {
    const subject = await subjectOf(tool.name, input, cwd ?? process.cwd());
    const rules = [...DEFAULT_POLICY.rules, ...this.#rules];
    return decide({ ...DEFAULT_POLICY, rules }, { tool: tool.name, subject });
  }
}
