/** Generates docs/reference/errors.md from the table of error codes and what the command line and the server say about each. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { failureOf as commandFailure } from "../src/edges/cli/exit.ts";
import { FAILURE_CODES, type FailureCode, failureOf, Refusal } from "../src/edges/http/guard/failures.ts";
import { ERROR_GROUPS, type ErrorCode, LogError } from "../src/log/errors.ts";

const CAUSES: Readonly<Record<FailureCode, string>> = {
  invalid_entry: "An entry has a missing, unknown or wrong field.",
  invalid_id: "An id contains a character that ids can't have, or is longer than 128 characters.",
  invalid_request: "An option, a parameter or a body has the wrong type or value.",
  unknown_parent: "The parent of an entry isn't in this conversation.",
  unknown_target: "An annotation points at an entry that isn't in this conversation.",
  duplicate_id: "An entry with this id exists already.",
  invalid_boundary: "A compaction names a first kept entry that isn't on the branch.",
  too_large: "An entry, a batch, a body or a file exceeds a limit.",
  ambiguous_id: "The part of an id that you gave matches several conversations or entries.",
  facet_missing: "This store has no such capability, for example search.",
  conversation_not_found: "The store has no conversation with this id in this space.",
  entry_not_found: "The conversation has no entry with this id or label.",
  blob_not_found: "The store has no content with this digest.",
  run_not_found: "The space has no run with this id.",
  conversation_exists: "A conversation with this id exists, and it was created with another key.",
  head_moved: "Another writer appended after the entry you expected to be the last.",
  fenced: "Another writer took over the conversation. Your late write was rejected.",
  busy: "Another writer holds the conversation, usually because a turn is running.",
  disk_full: "The disk has no space left.",
  read_only: "The store was opened for reading, or its files can't be written.",
  store_gone: "The file, folder or database doesn't answer or doesn't exist.",
  store_failed: "The store returned an error that Holdfast doesn't know.",
  damaged: "Stored bytes don't match their hash, or entries are missing.",
  diverged:
    "The log isn't the one its writer knows. The database was probably restored from a backup or failed over.",
  unsupported_version: "A newer version of Holdfast wrote this conversation.",
  wrong_host: "The `Host` header doesn't name this server.",
  wrong_origin: "A page of another origin sent the request.",
  no_token: "The request has no token.",
  wrong_token: "The token is unknown, expired or removed.",
  wrong_code: "The launch code was used before, is older than five minutes, or never existed.",
  no_right: "The token doesn't have the permission that the route requires.",
  only_reading: "The server runs with `--read-only`.",
  wrong_path: "The server has no such route.",
  wrong_method: "The route doesn't support this method.",
  wrong_type: "The body isn't JSON, or it is compressed.",
  too_slow: "The body took longer than 30 seconds to arrive.",
  too_many: "One token or one address sent more requests than the limit allows.",
  stopping: "The server is shutting down.",
  no_agent: "The server has no agent that could run a turn.",
  unexpected: "A fault in Holdfast or below it. The server's log has the reason.",
};

const HEAD = `# Error codes

\`npm run docs:api\` generates this page from the tables in the source.

A code is stable: compare codes, never messages. You meet the same codes in three places:

- **Library**: \`LogError\` has \`code\`, \`message\` and \`details\`. Check one with \`isLogError(error, "busy")\`.
- **Command line**: the exit code. With \`--json\`, stderr has an object with the code.
- **HTTP**: the status, and a body with \`code\`, \`message\`, \`safe\` (what you needn't worry about), \`next\` and \`details\`.
`;

/** The whole page. */
export function errorsPage(): string {
  const known = FAILURE_CODES.filter(isLogCode);
  const others = FAILURE_CODES.filter((code) => !isLogCode(code));
  return `${[
    HEAD.trimEnd(),
    "## Everywhere",
    ...known.map(section),
    "## Only over HTTP",
    ...others.map(section),
  ].join("\n\n")}\n`;
}

function isLogCode(code: FailureCode): code is ErrorCode {
  return code in ERROR_GROUPS;
}

function section(code: FailureCode): string {
  const lines = [`### \`${code}\``, CAUSES[code]];
  if (code === "unexpected") return [...lines, fixes(new Error("unexpected"))].join("\n\n");
  const error = isLogCode(code) ? new LogError(code, "") : new Refusal(code, "");
  return [...lines, fixes(error)].join("\n\n");
}

function fixes(error: Error): string {
  const { status, body } = failureOf(error);
  const http = `- HTTP ${status}: ${body.error.safe} ${body.error.next}`;
  if (error instanceof Refusal) return http;
  const command = commandFailure(error);
  const exit = command.next === "" ? "" : `: ${command.next}`;
  return `- Exit code ${command.status}${exit}\n${http}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(fileURLToPath(new URL("../docs/reference/errors.md", import.meta.url)), errorsPage());
