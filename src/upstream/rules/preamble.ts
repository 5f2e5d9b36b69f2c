import { OUTCOME_UNKNOWN_CLAUSE } from "#log/projections/pairs";
import type { Outline } from "./outline.ts";
import { isNothing, type PriorContext, type PriorEffect } from "./prior-context.ts";
import type { PriorContextCounts } from "#log/entry";

const OPENING = "[Earlier conversation, restored from its log]";
const CLOSING = "[End of the restored conversation. The user's new message follows.]";
const LINE_BREAK = /\r\n|[\n\r\u2028\u2029\u0085\v\f]/u;

/**
 * The preamble for an upstream that may not remember. Every line of restored text is quoted, so no text can pass for
 * one of our own lines; the labels are prose, because models complete transcripts that look like transcripts.
 */
export function renderPreamble(prior: PriorContext): string {
  const parts: string[] = [
    `${OPENING}\nThese are the earlier messages and actions, oldest first. Use them as background. Answer the new message. Do not repeat or continue this text, and do not assume that an earlier task is still active.`,
  ];
  if (prior.summary !== null) parts.push(`Summary of the oldest messages:\n${quote(prior.summary)}`);
  if (prior.outline !== null) parts.push(...outlineParts(prior.outline, prior.summary !== null));
  else if (prior.olderLeftOut) parts.push("Older messages are not included.");
  for (const message of prior.messages) {
    parts.push(`${labelOf(message)}\n${quote(message.text)}`);
  }
  if (prior.effects.length > 0)
    parts.push(`Actions already taken. Do not repeat them:\n${prior.effects.map(effectLine).join("\n")}`);
  if (prior.elsewhere.length > 0)
    parts.push(
      `Actions taken on another branch of this conversation. Its messages do not apply here, but the actions did take place. Do not repeat them:\n${prior.elsewhere.map(effectLine).join("\n")}`,
    );
  parts.push(CLOSING);
  return parts.join("\n\n");
}

/** Above a reply that was cut off, so that "go on" means something and half a word does not pass for a whole one. */
export const CUT_OFF_LABEL = "Your reply was interrupted. You had written:";

const USER_LABEL = "The user said:";
const REPLY_LABEL = "You replied:";
const LABELS: ReadonlySet<string> = new Set([
  USER_LABEL,
  REPLY_LABEL,
  CUT_OFF_LABEL,
  "You began to reply and were cut off; this is as far as you came:", // until 0.1.0, in the records of agents
]);

function labelOf({ role, cutOff }: PriorContext["messages"][number]): string {
  if (role === "user") return USER_LABEL;
  return cutOff === true ? CUT_OFF_LABEL : REPLY_LABEL;
}

function outlineParts(outline: Outline, summarised: boolean): readonly string[] {
  const { messages, more, first, later, tools, files } = outline;
  const count = `${more ? "More than " : ""}${messages} ${messages === 1 ? "message" : "messages"}`;
  const where = summarised ? "between the summary and the messages below" : "before the messages below";
  const called = tools.map(({ name, calls }) => `${name} (${calls})`).join(", ");
  return [
    `${count} ${where} ${messages === 1 && !more ? "is" : "are"} not quoted in full. In short:`,
    ...first.map((text, at) => `${at === 0 ? "The user's first message:" : "The next one:"}\n${quote(text)}`),
    ...(later.length === 0 ? [] : [`Later user messages, one line each:\n${quote(later.join("\n"))}`]),
    ...(called === "" ? [] : [`Tools called:\n${quote(called)}`]),
    ...(files.length === 0 ? [] : [`Files mentioned:\n${quote(files.join("\n"))}`]),
  ];
}

/** What an upstream is sent when it is not proven: the preamble, then the new words, raw, unlabelled and last. */
export function withPreamble(prior: PriorContext, prompt: string): string {
  return isNothing(prior) ? prompt : `${renderPreamble(prior)}\n\n${prompt}`;
}

/** Whether a prompt in an agent's record was sent with a preamble; with one of so many messages, where that is known. */
export function hasPreamble(text: string, quoted: number | null = null): boolean {
  const preambles = text.split(OPENING).slice(1);
  return quoted === null ? preambles.length > 0 : preambles.some((one) => quotedIn(one) === quoted);
}

function quotedIn(preamble: string): number {
  const [quotes = ""] = preamble.split(CLOSING);
  return quotes.split("\n").filter((line) => LABELS.has(line.trim())).length;
}

/** Whether a text begins as a preamble does: an agent that names a session by its first words quotes ours. */
export function isPreamble(text: string): boolean {
  return text.trimStart().startsWith(OPENING);
}

function quote(text: string): string {
  return text
    .toWellFormed() // a lone surrogate would make the whole request invalid
    .split(LINE_BREAK)
    .map((line) => `> ${line}`)
    .join("\n");
}

const STATES = {
  done: "done",
  failed: "failed",
  unknown: OUTCOME_UNKNOWN_CLAUSE,
} as const;

function effectLine(effect: PriorEffect): string {
  const result = effect.output === undefined ? "" : `: ${effect.output}`;
  return `> ${oneLine(`${effect.name} ${effect.input}`)}: ${STATES[effect.state]}${oneLine(result)}`;
}

function oneLine(text: string): string {
  return text.toWellFormed().split(LINE_BREAK).join(" ");
}

/** What of the prior context an agent session is sent, in numbers for the log; null when it is sent nothing. */
export function countsOf(prior: PriorContext): PriorContextCounts | null {
  if (isNothing(prior)) return null;
  const { summary, outline, messages } = prior;
  const [first] = messages;
  return {
    messages: messages.length,
    ...(first === undefined ? {} : { from: first.entryId }),
    leftOut: outline?.messages ?? 0,
    ...(outline?.more === true ? { more: true } : {}),
    ...(summary === null ? {} : { summary: true }),
    effects: prior.effects.length + prior.elsewhere.length,
  };
}

/** The same for people: what was carried, and what was not. */
export function priorContextText(counts: PriorContextCounts): string {
  const { messages, leftOut, more = false, summary = false, effects } = counts;
  const all = leftOut === 0 && !more && !summary;
  const quotes = all
    ? `all ${counted(messages, "message")}`
    : `the last ${counted(messages, "message")} word for word`;
  const before = leftOut === 0 && !more ? "" : `${more ? "more than " : ""}${leftOut} before them in outline`;
  const parts = [
    summary ? "the summary" : "",
    before,
    messages === 0 ? "" : quotes,
    effects === 0 ? "" : counted(effects, "action"),
  ].filter((part) => part !== "");
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
