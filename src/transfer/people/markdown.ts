import type { Conversation } from "#conversation/conversation";
import type { BranchEntry } from "#conversation/history-pages";
import type { Json } from "#log/json/json-text";
import type { ContentBlock } from "#log/message";
import { safeLine, visibleText } from "#transfer/shown/shown-text";
import { reasonWords } from "#transfer/words";
import { type PeopleOptions, readTranscript, type Transcript } from "./read-transcript.ts";

/**
 * A branch as a Markdown page, redacted unless told otherwise. Everything that was said stands in fences, so that nothing of it is
 * taken for Markdown or HTML.
 */
export async function exportMarkdown(
  conversation: Conversation,
  options: PeopleOptions = {},
): Promise<string> {
  return markdownOf(await readTranscript(conversation, options));
}

export function markdownOf(transcript: Transcript): string {
  const { title, conversation, createdAt, updatedAt, redacted, entries } = transcript;
  const facts = [
    `conversation ${word(conversation)}`,
    `begun ${word(createdAt)}`,
    `changed ${word(updatedAt)}`,
  ];
  const note = redacted
    ? "What looked like a secret was taken out. Base64 and images were not looked into."
    : "Not redacted: it may hold secrets.";
  const sections = entries.map(sectionOf).filter((section) => section !== "");
  return [`# ${plain(title ?? "(no title)")}`, facts.join(" · "), note, ...sections].join("\n\n") + "\n";
}

/** A heading and what stands under it; nothing for entries that people do not read. */
function sectionOf(entry: BranchEntry): string {
  const parts = partsOf(entry);
  if (parts === null) return "";
  const hidden = entry.hidden ? " (hidden from the model)" : "";
  return [`## ${plain(parts.heading)}${hidden} · ${word(entry.time)}`, ...parts.body].join("\n\n");
}

interface Parts {
  readonly heading: string;
  readonly body: readonly string[];
}

function partsOf(entry: BranchEntry): Parts | null {
  switch (entry.type) {
    case "message": {
      const { message } = entry;
      const body = message.content.flatMap(blockParts);
      if (message.role === "user") return { heading: "User", body };
      if (message.role === "assistant")
        return { heading: message.model === undefined ? "Assistant" : `Assistant, ${message.model}`, body };
      const failed = message.isError === true ? ", failed" : "";
      return { heading: `Result of ${message.toolName ?? message.toolCallId}${failed}`, body };
    }
    case "seed":
      return {
        heading: `What run ${entry.run} was begun with`,
        body: [fenced(json(entry.messages), "json")],
      };
    case "compaction":
      return {
        heading: "Summary that the model reads in place of what is older",
        body: [fenced(entry.summary)],
      };
    case "branch_summary":
      return { heading: "Summary of a branch that was left", body: [fenced(entry.summary)] };
    case "model_change":
      return { heading: `Model: ${entry.model}`, body: [] };
    case "reset":
      return {
        heading: "Begun anew",
        body: entry.reason === undefined ? [] : [plain(reasonWords(entry.reason))],
      };
    case "custom":
      return entry.inContext === true
        ? { heading: entry.customType, body: (entry.content ?? []).flatMap(blockParts) }
        : null;
    default:
      return null;
  }
}

function blockParts(block: ContentBlock): readonly string[] {
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? [fenced(block.text)] : [];
    case "thinking":
      return typeof block.thinking === "string" ? ["Thinking:", fenced(block.thinking)] : [];
    case "redactedThinking":
      return ["Thinking that only its provider can read."];
    case "toolCall": {
      const { name, input } = block as { readonly name: string; readonly input: Json };
      return [`Calls ${word(name)}:`, fenced(json(input), "json")];
    }
    case "image":
    case "audio":
    case "file": {
      const { name, mediaType, blob } = block as { name?: string; mediaType?: string; blob?: string };
      const words = [mediaType, name, blob].filter((one) => typeof one === "string");
      return [`Attached ${block.type}: ${words.map(plain).join(" ")}`];
    }
    default:
      return [fenced(json(block), "json")];
  }
}

function json(value: Json | undefined): string {
  return JSON.stringify(value ?? null, null, 2);
}

const TICKS = /`+/g;
const FENCE_MIN = 3;

/** Text in a fence that nothing in it can close. */
function fenced(text: string, info: "text" | "json" = "text"): string {
  const shown = visibleText(text);
  let ticks = FENCE_MIN;
  for (const [run] of shown.matchAll(TICKS)) ticks = Math.max(ticks, run.length + 1);
  const fence = "`".repeat(ticks);
  return `${fence}${info}\n${shown}\n${fence}`;
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
