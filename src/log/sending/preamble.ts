import type { PriorContext, PriorEffect } from "./prior-context.ts";

const OPENING = "[Earlier conversation, restored from its log]";
const CLOSING = "[End of the restored conversation. The user's new message follows.]";
const LINE_BREAK = /\r\n|[\n\r\u2028\u2029\u0085\v\f]/u;

/**
 * The preamble for an upstream that may not remember. Every line of restored text is quoted, so no text can pass for
 * one of our own lines; the labels are prose, because models complete transcripts that look like transcripts.
 */
export function renderPreamble(prior: PriorContext): string {
  const parts: string[] = [
    `${OPENING}\nThis is what was said and done before, oldest first. It is background: answer the new message, do not repeat or continue this text, and do not assume that an old task goes on.`,
  ];
  if (prior.summary !== null) parts.push(`Summary of what came first:\n${quote(prior.summary)}`);
  if (prior.olderLeftOut)
    parts.push(
      prior.summary === null
        ? "Older messages are not included."
        : "Some messages between that summary and the following are not included.",
    );
  for (const message of prior.messages) {
    parts.push(`${labelOf(message)}\n${quote(message.text)}`);
  }
  if (prior.effects.length > 0)
    parts.push(`Actions already taken; do not repeat them:\n${prior.effects.map(effectLine).join("\n")}`);
  parts.push(CLOSING);
  return parts.join("\n\n");
}

/** Above a reply that was cut off, so that "go on" means something and half a word is not taken for a whole one. */
export const CUT_OFF_LABEL = "You began to reply and were cut off; this is as far as you came:";

function labelOf({ role, cutOff }: PriorContext["messages"][number]): string {
  if (role === "user") return "The user said:";
  return cutOff === true ? CUT_OFF_LABEL : "You replied:";
}

/** What an upstream is sent when it is not proven: the preamble, then the new words, raw, unlabelled and last. */
export function withPreamble(prior: PriorContext, prompt: string): string {
  const empty = prior.summary === null && prior.messages.length === 0 && prior.effects.length === 0;
  return empty ? prompt : `${renderPreamble(prior)}\n\n${prompt}`;
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
  unknown: "outcome unknown: verify before doing it again",
} as const;

function effectLine(effect: PriorEffect): string {
  const what = `${effect.name} ${effect.input}`.toWellFormed().split(LINE_BREAK).join(" ");
  return `> ${what}: ${STATES[effect.state]}`;
}
