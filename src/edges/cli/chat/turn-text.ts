import type { AgentResult } from "#agent/agent-options";
import { PROVIDERS } from "#agent/models/providers";
import { endingSentence } from "#operations/text";
import { clockOf, spanText } from "#edges/cli/terminal/time";
import { readWaiting } from "#agent/pending-permissions";
import type { Conversation } from "#conversation/conversation";
import { readLastTurn } from "#conversation/list-conversations";
import { effectsOf } from "#log/projections/effects";
import { isWorkedOn } from "#transfer/views/conversation-state";
import { jsonPreview } from "#transfer/views/entry-preview";
import { setTimeout as sleep } from "node:timers/promises";
import { isLogError } from "#log/errors";
import type { Printer } from "#edges/cli/terminal/printer";

/** Where a person reads it, which decides what they can do next. */
type ReadAt = { readonly at: "chat" } | { readonly at: "command"; readonly conversation: string };

type Ended = Pick<AgentResult, "outcome" | "class" | "message" | "resetAtMs" | "model">;

/** What is said in a chat behind a turn's last word; null when there is nothing to add. */
export function endedText(turnEnd: Ended & Pick<AgentResult, "waiting">): string | null {
  const { outcome, class: endClass, message, waiting } = turnEnd;
  if (outcome === "completed" && endClass !== "empty") return message === "" ? null : message;
  if (outcome === "waiting")
    return `The turn waits for an answer about ${waiting.map(({ tool }) => tool).join(", ") || "a tool"}, and nothing is lost meanwhile; /continue asks you again.`;
  return endingText(turnEnd, { at: "chat" }, Date.now());
}

/** What became of a turn that did not complete: what happened, what is safe, what to do next. */
export function endingText(turnEnd: Ended, place: ReadAt, nowMs: number): string {
  const { class: endClass, outcome, message, resetAtMs } = turnEnd;
  const goOn = place.at === "chat" ? "/continue" : `\`holdfast continue ${place.conversation}\``;
  const sentence = message.replace(/\.$/, "");
  switch (endClass) {
    case "limit":
    case "credit": {
      const until = resetAtMs === null ? "" : ` It may be asked again ${whenText(resetAtMs, nowMs)}.`;
      return `${sentence}.${until} The conversation is saved; ${goOn} tries again.`;
    }
    case "auth":
      return `${sentence}. ${keyText(turnEnd.model)}The conversation is saved; ${goOn} tries again.`;
    case "overloaded":
      return `${sentence}. The conversation is saved; ${goOn} tries again.`;
    case "poisoned":
      return `${sentence}. ${HIDE} The conversation is saved; ${goOn} tries again.`;
    case "too_long":
      return `${sentence}. ${place.at === "chat" ? "/compact summarizes older messages" : "`holdfast chat ID`, then /compact, summarizes older messages"}; ${goOn} asks again.`;
    case "failed":
    case "expired":
    case "lost":
    case "crashed":
    case "stale_replay":
      return `${sentence === "" ? endingSentence({ outcome: "failed", class: endClass }) : `${sentence}.`}${doubtText(sentence)} The conversation is saved; ${goOn} tries again.`;
    case "cancelled":
      return `${endingSentence({ outcome: "interrupted", class: endClass })} ${goOn} resumes it.`;
    case "turn_limit":
      return `${sentence}. ${goOn} resumes it.`;
    case "completed":
    case "empty":
    case null:
      return outcome === "completed" && endClass === "completed" ? sentence : `${sentence}.`;
  }
}

const HIDE = "`holdfast hide ID@ENTRY` keeps an entry from the model.";

function keyText(model: string | null): string {
  const provider = PROVIDERS[model?.split("/")[0] ?? ""];
  return provider === undefined ? "" : `${provider.keyVariable} was not accepted: set another. `;
}

/** A service that does not know the path or the name says so in few words. */
function doubtText(message: string): string {
  return message.startsWith("404 ")
    ? " Is the model's name wrong, or the base URL (which ends in /v1 mostly)?"
    : "";
}

function whenText(atMs: number, nowMs: number): string {
  if (atMs <= nowMs) return "now";
  return `in ${spanText(atMs - nowMs)} (${clockOf(new Date(atMs).toISOString())})`;
}

const CALL_CHARS = 120;

/** What a person who comes back should know of the last turn before they say anything; null when it ended well. */
export async function lastTurnText(conversation: Conversation): Promise<string | null> {
  const last = await readLastTurn(conversation);
  if (last === null) return null;
  if (last.state === "ended") {
    if (last.outcome === "completed") return null;
    const until = last.resetAt === null ? "" : ` until ${clockOf(last.resetAt)}`;
    const advice =
      last.outcome === "interrupted" ? "was stopped" : until === "" ? "failed" : `is parked${until}`;
    return `The last turn ${advice}; /continue resumes it.`;
  }
  if (await isWorkedOn((await conversation.head()).lease))
    return "The last turn still runs in another process; what you say waits for its end.";
  const unknown = await unknownText(conversation);
  const [first] = await readWaiting(conversation);
  if (first !== undefined)
    return `The last turn waits for your answer about ${callText(first.tool, first.input)}; /continue asks you again.${unknown}`;
  return `The last turn was interrupted; /continue resumes it.${unknown}`;
}

/** What a new prompt does to a turn that somebody left; null where there is none. */
export async function abandonedText(conversation: Conversation): Promise<string | null> {
  const last = await readLastTurn(conversation);
  if (last?.state !== "open") return null;
  const waiting = await readWaiting(conversation);
  const dropped = waiting.map(
    ({ tool, input }) => `The question about ${callText(tool, input)} is dropped; it was not run.`,
  );
  const text = `${dropped.join(" ")}${await unknownText(conversation)}`.trim();
  return text === "" ? null : text;
}

/** Calls of the last turn that were begun and have no outcome: a person has to look. */
async function unknownText(conversation: Conversation): Promise<string> {
  const start = await conversation.latest(["turn_start"]);
  if (start === null) return "";
  const types = ["message", "tool_intent"] as const;
  const entries = await conversation.read({ after: start.seq, limit: 100_000, types });
  const inputs = new Map(
    entries.flatMap((entry) => (entry.type === "tool_intent" ? [[entry.id, entry.input] as const] : [])),
  );
  const unknownEffects = effectsOf(entries).filter(
    ({ state, intent }) => state === "unknown" && intent !== null,
  );
  return unknownEffects
    .map(({ name, intent }) =>
      intent === null
        ? ""
        : ` ${callText(name, inputs.get(intent))} started, but its outcome is unknown. Check before you repeat it.`,
    )
    .join("");
}

function callText(tool: string, input: unknown): string {
  const text = `${tool} ${jsonPreview(input)}`.trim();
  return text.length > CALL_CHARS ? `${text.slice(0, CALL_CHARS)}…` : text;
}

const LOOK_MS = 200;
const PROCESS = /\(process (\d+), /;

/** Waits for whoever has the conversation now; a process of this machine that is gone is not waited for. */
export async function whenFree<T>(
  conversation: Conversation,
  options: { readonly signal: AbortSignal; readonly onWait: (text: string) => void },
  work: () => Promise<T>,
): Promise<T> {
  for (let isNoticed = false; ; isNoticed = true) {
    try {
      return await work();
    } catch (error) {
      if (!isLogError(error, "busy") || options.signal.aborted) throw error;
      const { lease } = await conversation.head();
      if (!isNoticed) options.onWait(`Waiting for ${nameOf(lease?.writer)} to finish; Ctrl-C gives up.`);
      await sleep(LOOK_MS, undefined, { signal: options.signal }).catch(() => undefined);
    }
  }
}

function nameOf(writer: string | undefined): string {
  if (writer === undefined) return "another process";
  const [, pid] = PROCESS.exec(writer) ?? [];
  return pid === undefined ? writer : `process ${pid}`;
}

const TICK_MS = 1_000;
const QUIET_S = 2; // most answers begin sooner

/** Says at a terminal that something is waited for, and for how long. */
export class WaitingLine {
  readonly #printer: Printer;
  #timer: NodeJS.Timeout | null = null;

  constructor(printer: Printer) {
    this.#printer = printer;
  }

  begin(activity: string): void {
    this.end();
    let seconds = 0;
    this.#timer = setInterval(() => {
      if (++seconds >= QUIET_S) this.#printer.passing(`${activity} (${seconds} s); Ctrl-C stops it`);
    }, TICK_MS);
  }

  end(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#printer.clearPassing();
  }
}
