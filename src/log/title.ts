const TITLE_CHARS_MAX = 72; // a line of a list
const HALF_CHARACTER = /[\uD800-\uDBFF]$/;
const READ_CHARS_MAX = 1_000; // a long prompt is not read to its end

/** The title of a conversation without one: the first line of its first prompt. Null where that is empty. */
export function promptTitle(prompt: string): string | null {
  const [line = ""] = prompt.slice(0, READ_CHARS_MAX).trim().split("\n", 1);
  return line === "" ? null : cutTitle(line.replaceAll(/\s+/g, " ").trim());
}

/** The title of a fork whose source has one: the same with a mark, and a number where the source is a fork itself. */
export function forkTitle(title: string): string {
  const [, name = title, number] = /^(.*) \(fork(?: (\d{1,6}))?\)$/s.exec(title) ?? [];
  const mark = name === title ? " (fork)" : ` (fork ${Number(number ?? 1) + 1})`;
  return cutTitle(name, TITLE_CHARS_MAX - mark.length) + mark;
}

function cutTitle(line: string, chars: number = TITLE_CHARS_MAX): string {
  return line.length <= chars
    ? line
    : `${line
        .slice(0, chars - 1)
        .replace(HALF_CHARACTER, "")
        .toWellFormed()}…`;
}
