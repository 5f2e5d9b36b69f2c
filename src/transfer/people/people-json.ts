import type { Conversation } from "#conversation/conversation";
import { entryLine } from "#log/codec";
import { SCHEMA_VERSION } from "#transfer/schema-version";
import { type PeopleOptions, readTranscript } from "./read-transcript.ts";

/** A branch as one JSON object for programs that show it, redacted unless told otherwise. It cannot be imported. */
export async function exportJson(conversation: Conversation, options: PeopleOptions = {}): Promise<string> {
  const { entries, ...about } = await readTranscript(conversation, options);
  // Beside the entries, not in them: a payload may have a member of any name.
  const hidden = entries.filter((entry) => entry.hidden).map(({ id }) => id);
  const start = JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...about, hidden });
  return `${start.slice(0, -1)},"entries":[${entries.map((entry) => entryLine(entry)).join(",")}]}\n`;
}
