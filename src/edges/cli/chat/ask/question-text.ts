import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { subjectOf } from "#agent/tools/folder-path";
import { fieldsIn, textIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { counted } from "#edges/cli/terminal/count";
import { changedLines } from "./changed-lines.ts";

const CHARS_MAX = 4_000;
const FILE_BYTES_MAX = 2_000_000; // a larger one is not read for a question

/** What a call is to be judged by. */
export interface Asked {
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
