import type { AgentResult } from "#agent/agent-options";
import { PROVIDERS } from "#agent/models/providers";
import { endingSentence } from "#operations/text";
import { clockOf, spanText } from "#edges/cli/view/time";

/** Where a person reads it, which decides what they can do next. */
export type ReadAt = { readonly at: "chat" } | { readonly at: "command"; readonly conversation: string };

type Ended = Pick<AgentResult, "outcome" | "class" | "message" | "resetAtMs" | "model">;

/** What is said in a chat behind a turn's last word; null when there is nothing to add. */
export function endedText(ended: Ended & Pick<AgentResult, "waiting">): string | null {
  const { outcome, class: known, message, waiting } = ended;
  if (outcome === "completed" && known !== "empty") return message === "" ? null : message;
  if (outcome === "waiting")
    return `The turn waits for an answer about ${waiting.map(({ tool }) => tool).join(", ") || "a tool"}, and nothing is lost meanwhile; /continue asks you again.`;
  return endingText(ended, { at: "chat" }, Date.now());
}

/** What became of a turn that did not complete: what happened, what is safe, what to do next. */
export function endingText(ended: Ended, where: ReadAt, nowMs: number): string {
  const { class: known, outcome, message, resetAtMs } = ended;
  const goOn = where.at === "chat" ? "/continue" : `\`holdfast continue ${where.conversation}\``;
  const said = message.replace("`continue` goes on with it", `${goOn} goes on with it`).replace(/\.$/, "");
  switch (known) {
    case "limit":
    case "credit": {
      const until = resetAtMs === null ? "" : ` It may be asked again ${whenText(resetAtMs, nowMs)}.`;
      return `${said}.${until} What was said is kept; ${goOn} asks again.`;
    }
    case "auth":
      return `${said}. ${keyText(ended.model)}What was said is kept; ${goOn} asks again.`;
    case "overloaded":
      return `${said}. What was said is kept; ${goOn} asks again.`;
    case "poisoned":
      return `${said}. ${HIDE} What was said is kept; ${goOn} asks again.`;
    case "too_long":
      return `${said}. ${where.at === "chat" ? "/compact summarises what is older" : "`holdfast chat ID`, then /compact, summarises what is older"}; ${goOn} asks again.`;
    case "failed":
    case "expired":
    case "lost":
    case "crashed":
    case "stale_replay":
      return `${said === "" ? endingSentence({ outcome: "failed", class: known }) : `${said}.`}${doubtText(said)} What was said is kept; ${goOn} asks again.`;
    case "cancelled":
      return `${endingSentence({ outcome: "interrupted", class: known })} ${goOn} goes on.`;
    case "completed":
    case "turn_limit":
    case "empty":
    case null:
      return outcome === "completed" && known === "completed" ? said : `${said}.`;
  }
}

const HIDE = "`holdfast hide ID@ENTRY` keeps an entry from the model.";

function keyText(model: string | null): string {
  const provider = PROVIDERS[model?.split("/")[0] ?? ""];
  return provider === undefined ? "" : `${provider.keyVariable} was not accepted: set another. `;
}

/** A service that does not know the path or the name says so in few words. */
function doubtText(said: string): string {
  return said.startsWith("404 ")
    ? " Is the model's name wrong, or the base URL (which ends in /v1 mostly)?"
    : "";
}

function whenText(atMs: number, nowMs: number): string {
  if (atMs <= nowMs) return "now";
  return `in ${spanText(atMs - nowMs)} (${clockOf(new Date(atMs).toISOString())})`;
}
