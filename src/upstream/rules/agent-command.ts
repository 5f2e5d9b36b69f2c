import type { ContentBlock } from "#log/message";

/** What a prompt is to an agent's own program: something it does itself, or one of those that also forgets everything. */
export type CommandKind = "command" | "reset";

const COMMAND = /^\s*\/([^\s/]+)(?:\s|$)/;

/** The name of the command that a prompt looks like; null when it does not. A path is none. */
export function commandName(text: string): string | null {
  return COMMAND.exec(text)?.[1] ?? null;
}

/** The same of a prompt's content: agents look at its first words. */
export function commandIn(content: readonly ContentBlock[]): string | null {
  const [first] = content;
  return first?.type === "text" ? commandName(first.text) : null;
}
