import { LogError } from "#log/errors";

/** A line of a file, with its number there. */
export interface Line {
  readonly text: string;
  readonly number: number;
}

export function isBlank(text: string): boolean {
  return /^[ \t]*(?:#.*)?$/.test(text);
}

/** Lines that are one text: joined by spaces, an empty line begins a new one. */
export function foldedLines(lines: readonly string[]): string {
  let text = "";
  let gaps = 0;
  for (const line of lines) {
    if (line === "") gaps++;
    else {
      text += (text === "" ? "" : gaps > 0 ? "\n".repeat(gaps) : " ") + line;
      gaps = 0;
    }
  }
  return text;
}

/** A text written below `|` (as it stands) or `>` (folded). */
export function blockText(line: Line, header: string, below: readonly Line[]): string {
  const [, style, sign = "", width] =
    /^([|>])([+-]?)([1-9]?)(?:[ \t]+#.*)?$/.exec(header.replace(/^([|>])([1-9])([+-])/, "$1$3$2")) ?? [];
  if (style === undefined)
    throw new LogError("invalid_request", `line ${line.number}: ${header} is no way to begin a text`);
  const first = below.find(({ text }) => text.trim() !== "")?.text ?? "";
  const indent = width === undefined || width === "" ? (/^ */.exec(first)?.[0].length ?? 0) : Number(width);
  const lines = below.map(({ text, number }) => {
    if (text.trim() !== "" && !text.startsWith(" ".repeat(indent)))
      throw new LogError(
        "invalid_request",
        `line ${number}: this is indented less than the text it is part of`,
      );
    return text.slice(indent);
  });
  const text = style === "|" ? lines.join("\n") : foldedLines(lines.map((one) => one.trimEnd()));
  if (sign === "+") return `${text}\n`;
  return `${text.trimEnd()}${sign === "-" || text.trim() === "" ? "" : "\n"}`;
}

export function quotedStart(text: string): boolean {
  return text.startsWith('"') || text.startsWith("'");
}

const ESCAPES: { readonly [sign: string]: string } = {
  "0": "\0",
  t: "\t",
  n: "\n",
  r: "\r",
  e: "\u001b",
  " ": " ",
  '"': '"',
  "/": "/",
  "\\": "\\",
};

/** A text in quotes, which may go on in the lines below. */
export function readQuoted(line: Line, start: string, below: readonly Line[]): string {
  const whole = [start, ...below.map(({ text }) => text.trim())].join("\n").trimEnd();
  const pattern = start.startsWith('"') ? /^"((?:[^"\\]|\\[^])*)"([^]*)$/ : /^'((?:[^']|'')*)'(?!')([^]*)$/;
  const [, inside, rest = ""] = pattern.exec(whole) ?? [];
  if (inside === undefined || !isBlank(rest.replaceAll("\n", "")))
    throw new LogError(
      "invalid_request",
      `line ${line.number}: a text in quotes has to end with the same quotes, and nothing may follow it`,
    );
  const folded = foldedLines(inside.split("\n"));
  if (start.startsWith("'")) return folded.replaceAll("''", "'");
  return folded.replaceAll(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([^]))/g,
    (all: string, hex, long, sign) => {
      const code = (hex ?? long) as string | undefined;
      const known =
        code === undefined ? ESCAPES[sign as string] : String.fromCharCode(Number.parseInt(code, 16));
      if (known === undefined)
        throw new LogError("invalid_request", `line ${line.number}: ${all} is no known escape`);
      return known;
    },
  );
}
