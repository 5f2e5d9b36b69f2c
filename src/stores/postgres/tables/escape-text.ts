import { createHash } from "node:crypto";

const UNSTORABLE = /[\\\0]|\p{Surrogate}/gu;
const ESCAPED = /\\(\\|0|u[0-9a-f]{4})/g;

/** Text outside of JSON as a column can hold it: PostgreSQL has no NUL, and UTF-8 no half of a character. */
export function escapeText(text: string): string {
  return text.replaceAll(UNSTORABLE, (letter) => {
    if (letter === "\\") return "\\\\";
    return letter === "\0" ? "\\0" : `\\u${letter.charCodeAt(0).toString(16)}`;
  });
}

export function unescapeText(text: string): string {
  return text.replaceAll(ESCAPED, (_, code: string) => {
    if (code === "\\") return "\\";
    return code === "0" ? "\0" : String.fromCharCode(Number.parseInt(code.slice(1), 16));
  });
}

/** Stands for a name of any length in an index, which bounds what it takes. */
export function nameDigest(name: string): string {
  return createHash("sha256").update(JSON.stringify(name)).digest("hex");
}
