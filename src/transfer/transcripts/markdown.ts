import type { Conversation } from "#conversation/conversation";
import type { BranchEntry } from "#conversation/history-pages";
import { safeLine, visibleText } from "#transfer/views/safe-text";
import { type TranscriptOptions, readTranscript, type Transcript } from "./read-transcript.ts";
import { type Part, redactionNote, sectionOf } from "./transcript-parts.ts";

/**
 * A branch as a Markdown page, redacted unless told otherwise. Everything that was said stands in fences, so that nothing of it is
 * taken for Markdown or HTML.
 */
export async function exportMarkdown(
  conversation: Conversation,
  options: TranscriptOptions = {},
): Promise<string> {
  return markdownOf(await readTranscript(conversation, options));
}

export function markdownOf(transcript: Transcript): string {
  const { title, conversation, createdAt, updatedAt, redacted, entries } = transcript;
  const facts = [
    `conversation ${word(conversation)}`,
    `started ${word(createdAt)}`,
    `changed ${word(updatedAt)}`,
  ];
  const sections = entries.map(sectionText).filter((section) => section !== "");
  const top = [`# ${plain(title ?? "(no title)")}`, facts.join(" · "), redactionNote(redacted)];
  return [...top, ...sections].join("\n\n") + "\n";
}

/** A heading and what stands under it; nothing for entries that people do not read. */
function sectionText(entry: BranchEntry): string {
  const section = sectionOf(entry);
  if (section === null) return "";
  const hidden = entry.hidden ? " (hidden from the model)" : "";
  const heading = `## ${plain(section.heading)}${hidden} · ${word(entry.time)}`;
  return [heading, ...section.parts.flatMap(partText)].join("\n\n");
}

function partText(part: Part): readonly string[] {
  switch (part.as) {
    case "line":
      return [plain(part.text)];
    case "text":
    case "json":
      return [fenced(part.text, part.as)];
    case "thinking":
      return ["Thinking:", fenced(part.text)];
    case "call":
      return [`Calls ${word(part.name)}:`, fenced(part.input, "json")];
  }
}

const TICKS = /`+/g;
const FENCE_MIN = 3;

/** Text in a fence that nothing in it can close. */
function fenced(text: string, info: "text" | "json" = "text"): string {
  const visible = visibleText(text);
  let ticks = FENCE_MIN;
  for (const [run] of visible.matchAll(TICKS)) ticks = Math.max(ticks, run.length + 1);
  const fence = "`".repeat(ticks);
  return `${fence}${info}\n${visible}\n${fence}`;
}

const SIGNS = /[\\`*_{}[\]()<>#+\-.!|~&:@/]/g;

/** A name or a title as words: no sign of it means anything. */
function plain(text: string): string {
  return safeLine(text).replaceAll(SIGNS, (sign) => `\\${sign}`);
}

/** A name as code. */
function word(text: string): string {
  return `\`${safeLine(text).replaceAll("`", "'")}\``;
}
