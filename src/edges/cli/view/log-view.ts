import type { Entry, EntryType } from "#log/entry";
import { fit, pad, safeLine } from "#edges/cli/terminal/terminal";
import { kindOf } from "#transfer/views/entry-preview";
import { previewOf } from "./preview.ts";
import { clockOf } from "./time.ts";
import { endingClause, reasonText } from "#operations/text";

// How a turn was carried out: what a person wants to know of it stands in messages, links and ends that went wrong.
const MACHINERY: ReadonlySet<EntryType> = new Set([
  "turn_start",
  "attempt",
  "attempt_end",
  "update",
  "tool_intent",
  "tool_progress",
  "permission",
  "permission_answer",
  "plan",
  "run_start",
  "run_end",
  "config_change",
  "skill_change",
  "state_change",
  "seed",
]);

/** Whether a person reads the entry only when they ask for everything. */
export function isMachinery(entry: Entry): boolean {
  if (entry.type === "turn_end") return endingClause(entry) === null;
  if (entry.type === "steer") return entry.state === "delivered";
  return MACHINERY.has(entry.type);
}

const WORDS: Readonly<Partial<Record<EntryType, string>>> = {
  conversation: "begun",
  model_change: "model",
  branch_summary: "summary",
  upstream_link: "session",
  upstream_end: "session ended",
  turn_end: "turn",
  leaf: "went to",
};

/** An entry's line for people: in their words, or, with everything shown, under the names of the format. */
export function logRow(
  entry: Entry,
  how: { readonly inherited: boolean; readonly columns: number; readonly all: boolean },
): string {
  const kind = how.all ? kindOf(entry) : (WORDS[entry.type] ?? kindOf(entry));
  const start = `${how.inherited ? "⑂" : " "}${String(entry.seq).padStart(5)}  ${clockOf(entry.time)}  ${pad(safeLine(kind), 13)} `;
  const text = how.all ? previewOf(entry) : wordsFor(entry);
  return fit(`${start}${text}`, Math.max(how.columns, 60)).trimEnd();
}

function wordsFor(entry: Entry): string {
  switch (entry.type) {
    case "upstream_link":
      return safeLine(`${entry.agent}: ${reasonText(entry.reason)} (${entry.upstream})`);
    case "upstream_end":
      return safeLine(`${reasonText(entry.reason, "it")} (${entry.upstream})`);
    case "turn_end":
      return safeLine(endingClause(entry) ?? "");
    case "reset":
      return safeLine(`${reasonText(entry.reason ?? "")}; nothing above reaches the model`);
    default:
      return previewOf(entry);
  }
}
