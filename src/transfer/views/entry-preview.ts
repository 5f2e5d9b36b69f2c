import type { Entry, EntryOf } from "#log/entry";
import type { ContentBlock, Message } from "#log/message";
import { recordedEvents } from "#turn/rules/attempt-record";
import type { TurnEvent } from "#turn/rules/turn-event";
import { wordSpans } from "#log/search";

const PREVIEW_CHARS = 400; // more than a line shows; never the whole of a large message

/** Who or what an entry is, in one word for people. */
export function kindOf(entry: Entry): string {
  if (entry.type !== "message") return entry.type;
  return entry.message.role === "toolResult" ? "result" : entry.message.role;
}

/** Returns the cost of an answer in microdollars; null if unknown. */
export function costIn(entry: Entry): number | null {
  if (entry.type !== "message" || entry.message.role !== "assistant") return null;
  return entry.message.usage?.costMicros ?? null;
}

/** Returns the start of an entry's text as stored. Callers make it safe to show. */
export function entryPreview(entry: Entry): string {
  return rawPreview(entry).slice(0, PREVIEW_CHARS).toWellFormed();
}

function rawPreview(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return messagePreview(entry.message);
    case "conversation":
      return entry.origin === undefined
        ? (entry.cwd ?? "")
        : `fork of ${entry.origin.conversation}@${entry.origin.entry}`;
    case "model_change":
      return entry.model;
    case "compaction":
    case "branch_summary":
      return entry.summary;
    case "custom":
      return `${entry.customType} ${entry.content === undefined ? jsonPreview(entry.data) : entry.content.map(blockPreview).join(" ")}`;
    case "title":
      return entry.title;
    case "memory":
      return [entry.change, entry.key ?? entry.conversation ?? "", entry.title ?? ""].join(" ").trim();
    case "label":
      return `${entry.target} ${entry.label ?? "(cleared)"}`;
    case "hide":
      return `${entry.target}${entry.hidden === false ? " (shown again)" : ""}`;
    case "leaf":
      return `→ ${entry.target}`;
    case "upstream_link":
      return `${entry.agent} ${entry.upstream} (${entry.reason})`;
    case "steer":
      return `${entry.state} ${(entry.content ?? []).map(blockPreview).join(" ")}`;
    case "tool_intent":
      return `${entry.name} ${jsonPreview(entry.input)}`;
    case "attempt":
      return [entry.upstream ?? entry.model, entry.fidelity ?? ""].join(" ").trim();
    case "turn_end":
      return [entry.outcome, entry.class ?? "", entry.resetAt ?? ""].filter(Boolean).join(" ");
    case "update":
      return updatePreview(entry).slice(0, PREVIEW_CHARS);
    case "permission":
      return permissionPreview(entry).slice(0, PREVIEW_CHARS);
    default:
      return payloadPreview(entry.payload);
  }
}

function payloadPreview(payload: string): string {
  return payload === "{}" ? "" : payload.slice(0, PREVIEW_CHARS);
}

function messagePreview(message: Message): string {
  const text = message.content.map(blockPreview).filter(Boolean).join(" · ");
  return message.role === "toolResult" ? `${message.isError === true ? "✗" : "✓"} ${text}` : text;
}

export function blockPreview(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return `(thinking) ${block.thinking}`;
    case "toolCall":
      return `▸ ${block.name} ${jsonPreview(block.input)}`;
    case "redactedThinking":
      return "(thinking, readable only by the provider)";
    case "image":
    case "audio":
      return `[${block.mediaType}]`;
    case "file":
      return `[${block.name ?? block.mediaType}]`;
    default:
      return `[${block.type}]`;
  }
}

export function jsonPreview(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value).slice(0, PREVIEW_CHARS);
}

/** What an agent said while it worked, in one line. */
function updatePreview(entry: EntryOf<"update">): string {
  // Anyone may write an update: one that is not the runtime's is shown as it is.
  const events = recordedEvents(entry);
  return events === null ? entry.payload : events.map((event) => eventPreview(event)).join(" · ");
}

function eventPreview(event: TurnEvent): string {
  switch (event.type) {
    case "text":
      return event.text;
    case "thinking":
      return `(thinking) ${event.text}`;
    case "tool":
      return `▸ ${event.name} ${event.state}${event.output === undefined ? "" : `: ${event.output}`}`;
    case "waiting":
      return `(waiting) ${event.text}`;
    case "final_text":
      return "";
    default:
      return JSON.stringify(event);
  }
}

/** A person's answer, or what they were asked. */
function permissionPreview(entry: EntryOf<"permission">): string {
  const data = (entry.data ?? {}) as {
    readonly outcome?: { readonly outcome?: unknown; readonly optionId?: unknown };
    readonly toolCall?: { readonly title?: unknown };
  };
  const { outcome, toolCall } = data;
  if (typeof outcome?.outcome === "string")
    return `answered: ${typeof outcome.optionId === "string" ? outcome.optionId : outcome.outcome}`;
  return typeof toolCall?.title === "string" ? `asked: ${toolCall.title}` : entry.payload;
}

const BEFORE_CHARS = 40;
const SNIPPET_CHARS = 160;

/** The part of the text around the first word found. */
export function snippetOf(text: string, words: readonly string[]): string {
  const [start = 0] = wordSpans(text, words)[0] ?? [];
  const from = Math.max(0, start - BEFORE_CHARS);
  const part = text.slice(from, from + SNIPPET_CHARS).toWellFormed();
  return `${from > 0 ? "…" : ""}${part}${from + SNIPPET_CHARS < text.length ? "…" : ""}`;
}
