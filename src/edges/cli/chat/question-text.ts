import { fieldsIn, textIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

const CHARS_MAX = 4_000;

/** What a tool wants to do, whole: an answer to a part of it would be an answer to something else. */
export function questionText(tool: string, input: Json): string {
  const fields = fieldsIn(input) ?? {};
  const [path, command, content] = ["path", "command", "content"].map((name) => textIn(fields[name]));
  const [before, after] = [textIn(fields["old"]), textIn(fields["new"])];
  if (tool === "shell" && typeof command === "string") return `shell wants to run:\n${shown(command)}`;
  if (tool === "write" && typeof path === "string" && typeof content === "string")
    return `write wants to write ${path}:\n${shown(content)}`;
  if (tool === "edit" && typeof path === "string" && before !== null && after !== null)
    return `edit wants to change ${path}:\n${shown(marked("-", before))}\n${shown(marked("+", after))}`;
  return `${tool} wants to run with:\n${shown(JSON.stringify(input))}`;
}

function marked(mark: string, text: string): string {
  return text
    .split("\n")
    .map((line) => `${mark} ${line}`)
    .join("\n");
}

function shown(text: string): string {
  if (text.length <= CHARS_MAX) return text;
  return `${text.slice(0, CHARS_MAX)}\n[${text.length - CHARS_MAX} more characters are not shown]`;
}
