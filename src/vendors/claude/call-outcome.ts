import { type Fields, textIn } from "#log/json/json-fields";

/** The reasons that Claude Code gives only for calls that it never ran. */
const NEVER_RAN_KINDS: ReadonlySet<string> = new Set([
  "permission-rule",
  "automode-blocked",
  "automode-unavailable",
  "automode-parsing-error",
]);

/** The same in words, as it writes them in place of a result. Versions before 2.1.300 name no reason. */
const NEVER_RAN =
  /^(?:Tool permission request (?:failed|aborted)\b|User refused permission to run tool\b|Permission (?:to use|for this) |\[Tool call (?:skipped|not completed): )/;

/** A refusal by a person, and also a stop while the call ran: only the details of the record tell them apart. */
const REJECTED = /^The user doesn't want to proceed with this tool use\./;
const DECIDED = /^Error: /;

const UNKNOWN =
  /\binterrupted by user\b|^\[Tool call (?:did not complete|interrupted|result not in this copy)\b|^The user doesn't want to /i;

/** A result that Claude Code wrote in place of an outcome. */
interface MissingOutcome {
  readonly tool: string | undefined;
  readonly text: string;
  /** Claude Code's own name for the reason; null where it gives none. */
  readonly kind: string | null;
  readonly isError: boolean;
  /** What its record keeps of the result beside the text. */
  readonly detail: string | null;
}

/** `not_run`: the call never started. `unknown`: how far it got is unknown. Null: the result is the outcome. */
export function missingOutcome(result: MissingOutcome): "not_run" | "unknown" | null {
  const { tool, text, kind, isError, detail } = result;
  if (kind !== null && NEVER_RAN_KINDS.has(kind)) return "not_run";
  // The text of an MCP tool is the server's own, and may copy any of these.
  const isOwn = kind !== null || tool?.startsWith("mcp__") !== true;
  if (isError && isOwn && NEVER_RAN.test(text)) return "not_run";
  if (isError && isOwn && REJECTED.test(text) && DECIDED.test(detail ?? "")) return "not_run";
  return kind === "interrupted" || (isOwn && UNKNOWN.test(text)) ? "unknown" : null;
}

/** Whether an update of a call, over the protocol, means that it never ran. */
export function neverRan(update: Fields, meta: Fields): boolean {
  const kind = textIn(meta["nonExecutionKind"]);
  // Another agent's tools may print any of these texts.
  if (kind === null && textIn(meta["toolName"]) === null) return false;
  const text = textIn(update["rawOutput"]) ?? "";
  const tool = textIn(meta["toolName"]) ?? undefined;
  return missingOutcome({ tool, text, kind, isError: true, detail: null }) === "not_run";
}
