import { titleFrom } from "#vendors/records/naming";
import type { Edges } from "#vendors/records/record-files";
import type { NativeSession } from "#vendors/records/native-store";
import { projectName } from "./project-folders.ts";
import { messagesIn } from "./transcript-messages.ts";
import { type Fields, fieldsIn, textIn } from "#log/json/json-fields";

/** What the ends of a transcript tell of it; null when it is no conversation of its own. */
export function describeTranscript(folder: string, id: string, edges: Edges): NativeSession | null {
  const { head, tail, updatedAt } = edges;
  if (head[0]?.["isSidechain"] === true) return null;
  const cwd = cwdIn(folder, edges);
  const title = titleFrom(
    named(tail) ?? named(head) ?? lastOf(tail, "last-prompt", "lastPrompt") ?? firstPrompt(head),
  );
  return cwd === null && title === null ? null : { id, cwd, title, updatedAt };
}

/** A name that a person gave goes before one that was made up. */
function named(records: readonly Fields[]): string | null {
  return (
    lastOf(records, "custom-title", "customTitle") ??
    lastOf(records, "ai-title", "aiTitle") ??
    lastOf(records, "summary", "summary")
  );
}

function lastOf(records: readonly Fields[], type: string, name: string): string | null {
  return textIn(records.findLast((record) => record["type"] === type)?.[name]) || null;
}

/** The shell wanders and transcripts are moved: of the folders named, the one that the transcript is kept under. */
function cwdIn(folder: string, { head, tail }: Edges): string | null {
  const told = [
    lastOf(tail, "relocated", "relocatedCwd"),
    ...[...head, ...tail].map((record) => textIn(record["cwd"])),
  ];
  const cwds = told.filter((cwd) => cwd !== null);
  return cwds.find((cwd) => projectName(cwd) === folder) ?? cwds[0] ?? null;
}

function firstPrompt(records: readonly Fields[]): string | null {
  for (const record of records) {
    if (record["type"] !== "user" || fieldsIn(record["message"]) === null) continue;
    for (const { message } of messagesIn([record])) {
      const text =
        message.role === "user" ? message.content.find((block) => block.type === "text") : undefined;
      if (text !== undefined) return text.text;
    }
  }
  return null;
}
