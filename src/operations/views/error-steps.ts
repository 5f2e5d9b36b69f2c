/** What to do about an error: one row per code, as a command and as a request. */
import type { ErrorCode, LogError } from "#log/errors";

interface Steps {
  readonly command: string;
  readonly request: string;
}

// "ID" is replaced by the id of the conversation that the error is about.
const STEPS: Readonly<Record<ErrorCode, Steps>> = {
  invalid_entry: {
    command: "`holdfast help append` describes entries.",
    request: "Correct the entry. docs/reference/format.md describes each type.",
  },
  invalid_id: {
    command: "",
    request: "Use an id from a list or an earlier response.",
  },
  invalid_request: {
    command: "",
    request: "Correct the request. GET /api/openapi.json describes the parameters.",
  },
  unknown_parent: {
    command: "`holdfast tree ID` lists the entries.",
    request: "GET /api/conversations/ID/tree lists the entries.",
  },
  unknown_target: {
    command: "`holdfast tree ID` lists the entries.",
    request: "GET /api/conversations/ID/tree lists the entries.",
  },
  duplicate_id: {
    command: "Leave the id out to get a new one, or use --key to make retries safe.",
    request: "Leave the id out, or send an Idempotency-Key to make retries safe.",
  },
  invalid_boundary: {
    command: "`holdfast context ID` shows what the model sees now.",
    request: "GET /api/conversations/ID/context shows what the model sees now.",
  },
  too_large: {
    command: "Split it, or store large content outside the message.",
    request: "Split it, or store large content as a blob.",
  },
  facet_missing: {
    command: "Use --store to choose a store that supports it.",
    request: "Use a store that supports it.",
  },
  ambiguous_id: {
    command: "Type more characters, or the end of the id: ids created close together start alike.",
    request: "Send the complete id.",
  },
  conversation_not_found: {
    command: "`holdfast ls` lists conversations. Use --store or --space to search elsewhere.",
    request: "GET /api/conversations lists the conversations of this space.",
  },
  entry_not_found: {
    command: "`holdfast tree ID` lists the entries.",
    request: "GET /api/conversations/ID/tree lists the entries.",
  },
  blob_not_found: {
    command: "",
    request: "Check the digest. The entry that refers to the blob has it.",
  },
  run_not_found: {
    command: "`holdfast runs` lists runs.",
    request: "GET /api/runs lists runs.",
  },
  conversation_exists: { command: "Choose another id.", request: "Choose another id." },
  head_moved: {
    command: "Read the log again, then decide whether to append.",
    request: "Read the log again, then decide whether to append.",
  },
  fenced: {
    command: "Run the command again to reopen the conversation.",
    request: "Send the request again: another writer took over the conversation.",
  },
  busy: {
    command: "Try again in a moment.",
    request: "Try again in a moment, or steer or cancel the running turn.",
  },
  disk_full: {
    command: "Free some disk space, then try again.",
    request: "Free some disk space on the server, then try again.",
  },
  read_only: {
    command: "Use --store to choose a store you can write to.",
    request: "Use a server with write access to the store.",
  },
  store_gone: {
    command: "Check the path in --store or HOLDFAST_STORE.",
    request: "Try again when the store is available.",
  },
  store_failed: {
    command: "`holdfast doctor` checks the store.",
    request: "Try again. `holdfast doctor` checks the store.",
  },
  damaged: {
    command: "`holdfast doctor` shows where, and which entries can still be read.",
    request: "`holdfast doctor` shows where, and which entries can still be read.",
  },
  diverged: {
    command: "You can still read the log. Compare it with a backup before you continue.",
    request: "You can still read the log. Compare it with a backup before you continue.",
  },
  unsupported_version: {
    command: "Upgrade Holdfast to open it.",
    request: "Upgrade the server to open it.",
  },
};

const FILE_REQUESTS: { readonly [code in ErrorCode]?: string } = {
  invalid_request: "Send a bundle created by an export, or a session log.",
  damaged: "Export the file again, or set `salvage` to import the entries that can be read.",
};

/** Of no code: a bug. */
export const UNEXPECTED: Steps & { readonly safe: string } = {
  safe: "Everything acknowledged is stored.",
  command:
    "This is a bug. Set HOLDFAST_DEBUG=1 to see where, and report it: `npm bugs holdfast` opens the tracker.",
  request:
    "Try again. The server's output says where it happened; `npm bugs holdfast` opens the issue tracker.",
};

/** An error for readers who see nothing but its text. */
export function describeError({ message, safe }: Pick<LogError, "message" | "safe">): string {
  return [message.replace(/\.?$/, "."), safe].filter(Boolean).join(" ");
}

/** What to run next; empty where the message says it. */
export function nextCommand({ code, details }: Pick<LogError, "code" | "details">): string {
  // A file to import is not part of the store, so `doctor` cannot check it.
  if (code === "damaged" && "file" in details) return "";
  if ("memory" in details) return "`holdfast memory ls` lists memories; add --removed for removed ones.";
  if ("skill" in details) return "`holdfast skills` lists the available skills.";
  return withId(STEPS[code].command, details);
}

/** What a client of the HTTP API does next. */
export function nextRequest({ code, details }: Pick<LogError, "code" | "details">): string {
  return withId(("file" in details ? FILE_REQUESTS[code] : undefined) ?? STEPS[code].request, details);
}

function withId(step: string, { conversation }: LogError["details"]): string {
  return typeof conversation === "string" ? step.replace("ID", () => conversation) : step;
}
