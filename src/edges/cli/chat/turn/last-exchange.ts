import type { Entry, EntryOf } from "#log/entry";
import { isInternal } from "#log/message-extras";
import { fit, safeLine } from "#edges/cli/terminal/terminal";

const COLUMNS = 66; // one line each, behind the label

/** What was said last, in short, for whoever comes back. */
export function lastExchange(branch: readonly Entry[]): readonly string[] {
  const last = (role: "user" | "assistant"): EntryOf<"message"> | undefined =>
    branch.findLast(
      (entry): entry is EntryOf<"message"> =>
        entry.type === "message" && entry.message.role === role && !isInternal(entry) && textOf(entry) !== "",
    );
  const rows: readonly (readonly [string, EntryOf<"message"> | undefined])[] = [
    ["you", last("user")],
    ["agent", last("assistant")],
  ];
  return rows
    .flatMap(([label, entry]) => (entry === undefined ? [] : [{ label, entry }]))
    .toSorted((one, other) => branch.indexOf(one.entry) - branch.indexOf(other.entry))
    .map(({ label, entry }) => `${label.padEnd(10)}${fit(textOf(entry), COLUMNS)}`);
}

function textOf({ message }: EntryOf<"message">): string {
  return safeLine(message.content.map((block) => (block.type === "text" ? block.text : "")).join(" "));
}
