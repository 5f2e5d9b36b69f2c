import { safeLine } from "#transfer/views/safe-text";

const TELLING = [
  "command",
  "cmd",
  "path",
  "file_path",
  "filePath",
  "file",
  "url",
  "query",
  "q",
  "pattern",
  "to",
  "name",
  "prompt",
];
const CHARS_MAX = 300;

/** The argument of a call that says most about it, on one line. */
export function tellingArgument(input: unknown): string {
  if (typeof input === "string") return safeLine(input.slice(0, CHARS_MAX));
  if (typeof input !== "object" || input === null) return "";
  const members = Object.entries(input);
  const found =
    TELLING.map((name) => members.find(([member]) => member === name)?.[1]).find(
      (value) => typeof value === "string" && value !== "",
    ) ?? members.find(([, value]) => typeof value === "string")?.[1];
  return typeof found === "string"
    ? safeLine(found.slice(0, CHARS_MAX))
    : safeLine(JSON.stringify(input).slice(0, CHARS_MAX));
}
