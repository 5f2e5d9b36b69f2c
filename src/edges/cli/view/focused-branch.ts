import type { BranchEntry } from "#conversation/history-pages";

/** What people asked and what they were answered in the end: none of the answers in between. */
export function focusedBranch(entries: readonly BranchEntry[]): readonly BranchEntry[] {
  const focused: BranchEntry[] = [];
  let answer: BranchEntry | null = null;
  const flush = (): void => {
    if (answer !== null) focused.push(answer);
    answer = null;
  };
  for (const entry of entries) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "user") {
      flush();
      focused.push(entry);
    } else if (message.role === "assistant" && message.content.some(({ type }) => type === "text"))
      answer = entry;
  }
  flush();
  return focused;
}
