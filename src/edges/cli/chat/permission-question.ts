import { subjectOf } from "#agent/tools/folder-path";
import type { PermissionRule } from "#agent/tools/permissions";
import type { Host } from "#turn/host";
import type { Io } from "#edges/cli/command";
import type { ChatInput } from "./chat-input.ts";
import type { Printer } from "#edges/cli/terminal/printer";
import { alwaysRule, ruleText } from "./permission-rules.ts";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { fieldsIn, textIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { counted } from "#edges/cli/terminal/terminal";

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
  return async ({ tool, input: given }, signal) => {
    const rule = parts.always === undefined ? null : alwaysRule(tool, await subjectOf(tool, given, cwd));
    printer.question(await questionText({ tool, input: given, cwd }));
    for (;;) {
      printer.hold();
      const said = await input
        .answer(io.out.style.cyan(promptText(rule)), (text) => wordIn(text, rule) !== null, signal)
        .finally(() => printer.letGo());
      if (said === "left") return "later";
      if (said === "nobody") {
        printer.fault(`${tool} was refused: it asks first, and the next line is no answer but a message`);
        return said;
      }
      if (io.keyboard === undefined && !io.stdinIsTerminal) printer.you(said.text);
      const word = wordIn(said.text, rule);
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
interface Asked {
  readonly tool: string;
  readonly input: Json;
  /** Where it is worked on. */
  readonly cwd: string;
}

/** What a tool wants to do, whole, and what that means for what is there now. */
export async function questionText(asked: Asked): Promise<string> {
  const { tool, input } = asked;
  const fields = fieldsIn(input) ?? {};
  const [path, command, content] = ["path", "command", "content"].map((name) => textIn(fields[name]));
  const [before, after] = [textIn(fields["old"]), textIn(fields["new"])];
  const outside = await outsideText(asked);
  if (tool === "shell" && typeof command === "string") return `shell wants to run:\n${shown(command)}`;
  if (tool === "write" && typeof path === "string" && typeof content === "string")
    return writeText(await fileAt(asked.cwd, path), { path, outside, content });
  if (tool === "edit" && typeof path === "string" && before !== null && after !== null)
    return editText(await fileAt(asked.cwd, path), { path: `${path}${outside}`, before, after });
  if ((tool === "read" || tool === "search") && outside !== "")
    return `${tool} wants to look at ${path ?? "."}${outside}${tool === "search" ? `:\n${shown(JSON.stringify(input))}` : ""}`;
  return `${tool} wants to run${outside} with:\n${shown(JSON.stringify(input))}`;
}

/** What is there now: its text, that it is no text, or nothing. */
type Found = { readonly text: string } | "other" | "nothing";

async function fileAt(cwd: string, path: string): Promise<Found> {
  const whole = resolve(cwd, path);
  const found = await stat(whole).catch(() => null);
  if (found === null) return "nothing";
  if (!found.isFile() || found.size > FILE_BYTES_MAX) return "other";
  const text = await readFile(whole, "utf8").catch(() => null);
  return text === null || text.includes("\0") ? "other" : { text };
}

async function outsideText({ tool, input, cwd }: Asked): Promise<string> {
  const subject = await subjectOf(tool, input, cwd);
  if (subject.kind !== "path" || subject.inside) return "";
  const leads = subject.real === subject.path ? "" : ` (it leads to ${subject.real})`;
  return `${leads}, outside of ${cwd}`;
}

function writeText(
  found: Found,
  { path, outside, content }: { readonly path: string; readonly outside: string; readonly content: string },
): string {
  const size = counted(content.length, "character");
  if (found === "nothing")
    return content === ""
      ? `write wants to write ${path}, new and empty${outside}`
      : `write wants to write ${path}, new, with ${size}${outside}:\n${shown(content)}`;
  if (found === "other")
    return `write wants to replace ${path}, which is no text, with ${size}${outside}:\n${shown(content)}`;
  const now = counted(found.text.length, "character");
  if (content === "") return `write wants to empty ${path}, which has ${now} now${outside}`;
  if (found.text === content)
    return `write wants to write ${path} with what is in it already (${now})${outside}`;
  return `write wants to replace ${path} (${now} now) with ${size}${outside}:\n${shown(content)}`;
}

function editText(
  found: Found,
  { path, before, after }: { readonly path: string; readonly before: string; readonly after: string },
): string {
  const fails = (why: string): string =>
    `edit wants to change ${path}, and will fail: ${why}.\n${shown(marked("-", before))}\n${shown(marked("+", after))}`;
  if (found === "nothing") return fails("there is no such file");
  if (found === "other") return fails("it is no text");
  const at = found.text.indexOf(before);
  if (before === "" || at === -1) return fails("what it wants to replace does not stand there");
  if (found.text.includes(before, at + 1))
    return fails("what it wants to replace stands there more than once");
  const { line, rows } = changedLines(found.text, { at, length: before.length, by: after });
  return `edit wants to change ${path} at line ${line}:\n${shown(rows.join("\n"))}`;
}

function marked(mark: string, text: string): string {
  return text
    .split("\n")
    .map((line) => `${mark} ${line}`)
    .join("\n");
}

/** An answer to a part of it would be an answer to something else, so what is not shown is said. */
function shown(text: string): string {
  if (text.length <= CHARS_MAX) return text;
  return `${text.slice(0, CHARS_MAX)}\n[${text.length - CHARS_MAX} more characters are not shown]`;
}

const AROUND = 2; // lines that stay, before and behind

/** A stretch of a text, and what takes its place. */
interface Change {
  readonly at: number;
  readonly length: number;
  readonly by: string;
}

/** The lines a change is about, as a diff, and the first of them that changes. */
export function changedLines(
  text: string,
  { at, length, by }: Change,
): { readonly line: number; readonly rows: readonly string[] } {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const next = text.indexOf("\n", at + length);
  const end = next === -1 ? text.length : next;
  const old = text.slice(start, end).split("\n");
  const fresh = (text.slice(start, at) + by + text.slice(at + length, end)).split("\n");
  let same = 0;
  while (same < Math.min(old.length, fresh.length) && old[same] === fresh[same]) same++;
  let tail = 0;
  const least = Math.min(old.length, fresh.length) - same;
  while (tail < least && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++;
  const [before, behind] = [
    text.slice(0, start).split("\n").slice(0, -1),
    text
      .slice(end + 1)
      .replace(/\n$/, "")
      .split("\n"),
  ];
  const kept = old.slice(old.length - tail);
  const prefixed = (mark: string, lines: readonly string[]): readonly string[] =>
    lines.map((line) => `${mark} ${line}`);
  return {
    line: before.length + same + 1,
    rows: [
      ...prefixed(" ", [...before, ...old.slice(0, same)].slice(-AROUND)),
      ...prefixed("-", old.slice(same, old.length - tail)),
      ...prefixed("+", fresh.slice(same, fresh.length - tail)),
      ...prefixed(" ", (end >= text.length - 1 ? kept : [...kept, ...behind]).slice(0, AROUND)),
    ],
  };
}
