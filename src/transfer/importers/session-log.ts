import { type ImportBatch, type Importer, type ImportHeader, oneBody } from "./importer.ts";
import { LogError } from "#log/errors";
import { checkJsonObject, type Member, membersOf, objectText } from "#log/json/json-text";

// Said by the header in its own way, or not the payload's to say.
const HEADER_ONLY: ReadonlySet<string> = new Set(
  "type id timestamp version parentId time seq v payload origin".split(" "),
);

/** A coding agent's session log: a header that stands for the first entry, then a line for each of the others. */
export const sessionLog: Importer = {
  name: "session-log",
  begin: (first) => {
    const header = headerOf(first);
    return header === null ? null : { header, read: batchOf };
  },
};

function headerOf(line: string): ImportHeader | null {
  const { text, value } = checkJsonObject(line);
  if (value["type"] !== "session") return null;
  if (value["version"] !== 1) throw otherVersion(value["version"]);
  const { id, timestamp } = value;
  if (typeof id !== "string") throw new LogError("damaged", "The session header has no id");
  const envelope: readonly Member[] = [
    { name: "type", text: '"conversation"' },
    { name: "id", text: JSON.stringify(id) },
    ...(timestamp === undefined ? [] : [{ name: "time", text: JSON.stringify(timestamp) }]),
  ];
  const payload = membersOf(text).filter(({ name }) => !HEADER_ONLY.has(name));
  return { conversation: id, root: objectText([...envelope, ...payload]), entries: null };
}

/** The time has another name, the rest is as it stands. */
function batchOf(line: string): ImportBatch {
  const { text, value } = checkJsonObject(line);
  if (typeof value["id"] !== "string" || typeof value["parentId"] !== "string") {
    throw new LogError("invalid_entry", "Every entry of a session log has an id and a parentId");
  }
  const members = membersOf(text).map((member) =>
    member.name === "timestamp" ? { name: "time", text: member.text } : member,
  );
  return oneBody(objectText(members));
}

/** Other programs count their own versions, and a newer Holdfast would not know them either. */
function otherVersion(version: unknown): LogError {
  const named = Number.isSafeInteger(version) ? `version ${String(version)}` : "a version it does not name";
  return new LogError(
    "unsupported_version",
    `This is a coding agent's session log in ${named}; Holdfast imports session logs of version 1, whose shape docs/format.md describes ("Session logs"). Nothing was imported: convert it to that shape first, or go on with the conversation in its own agent behind \`holdfast acp\`.`,
    { kind: "session-log", version: String(version), current: 1 },
  );
}
