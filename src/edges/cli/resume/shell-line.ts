import { LogError } from "#log/errors";

const PLAIN = /^[\w@%+=:,./-]+$/;

/** A command as a line for a shell, in its folder: every word is one word there, whatever it holds. */
export function shellLine(command: readonly string[], cwd: string | null): string {
  const line = command.map(quoted).join(" ");
  return cwd === null ? line : `cd ${quoted(cwd)} && ${line}`;
}

function quoted(word: string): string {
  // A terminal that such a line is pasted into would obey them.
  if (/\p{Cc}/u.test(word))
    throw new LogError(
      "invalid_request",
      "The command has control characters, so it cannot be a line for a shell",
    );
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
