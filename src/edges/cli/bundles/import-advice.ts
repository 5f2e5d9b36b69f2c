import { isLogError, LogError } from "#log/errors";

const THROUGH_ACP =
  "It is not imported as a file: run its agent behind `holdfast acp`, and the editor lists it and opens it as a conversation";

/** By what a file is that is no export. */
const KINDS: Readonly<Record<string, string>> = {
  claude: THROUGH_ACP,
  codex: THROUGH_ACP,
  gemini: THROUGH_ACP,
  opencode: THROUGH_ACP,
  "jsonl-store": "Open it where it is, with --store jsonl:DIR, and `holdfast export` the conversation",
  bodies: "Make a conversation with `holdfast new`, then `holdfast append ID` takes such lines",
  compressed: "Unpack it first: `zcat FILE | holdfast import -`",
  sqlite: "Open it where it is, with --store sqlite:FILE, and `holdfast export` the conversation",
};

/** The error with what the command line can do about it; the library knows of no flags. */
export function withAdvice(error: unknown): unknown {
  if (!isLogError(error)) return error;
  const advice = adviceFor(error);
  if (advice === null) return error;
  return new LogError(error.code, `${error.message}${advice}`, error.details, { cause: error.cause });
}

function adviceFor({ code, details }: LogError): string | null {
  if (code === "conversation_exists") return " --id NEW or --as-new imports it beside that one.";
  if (code === "damaged" && "problems" in details)
    return "\n--salvage imports what can be reached and reports the rest.";
  if (code === "invalid_request" && "conversations" in details) return ". --as-new gives each a fresh id";
  const { kind } = details;
  const how = typeof kind === "string" && code === "invalid_request" ? KINDS[kind] : undefined;
  return how === undefined ? null : `. ${how}`;
}
