const INDENT = "  ";
const CLOSES: Readonly<Record<string, string>> = { "{": "}", "[": "]" };

/** The index behind the string that opens here; the end of the text where it is cut off. */
function stringEnd(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** The index of what stands here or behind it that is no space. */
function skipSpace(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? "x")) at++;
  return at;
}

/** A string as it is read: where it holds a line break, one is made. */
function broken(string: string): string {
  if (!string.includes("\\n")) return string;
  return string.replaceAll(/\\./gs, (escape) => (escape === "\\n" ? "\n" : escape));
}

/**
 * A JSON text in lines, for people: no number, name or escape is written otherwise than it came, but for line breaks within
 * strings. What is no JSON is shown as far as it goes.
 */
export function jsonLines(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  const line = (): string => `\n${INDENT.repeat(Math.max(0, depth))}`;
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const unit = text[at] ?? "";
    const close = CLOSES[unit];
    if (unit === '"') {
      const end = stringEnd(text, at);
      parts.push(broken(text.slice(at, end)));
      at = end;
      continue;
    }
    at++;
    if (close !== undefined) {
      const next = skipSpace(text, at);
      if (text[next] === close) {
        parts.push(unit, close);
        at = next + 1;
        continue;
      }
      depth++;
      parts.push(unit, line());
    } else if (unit === "}" || unit === "]") {
      depth--;
      parts.push(line(), unit);
    } else if (unit === ",") parts.push(unit, line());
    else parts.push(unit === ":" ? ": " : unit);
  }
  return parts.join("");
}
