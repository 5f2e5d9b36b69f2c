import type { Entry } from "#log/entry";
import type { ContentBlock, Message } from "#log/message";
import { permissionPreview, updatePreview } from "./update-preview.ts";

const PREVIEW_CHARS = 400; // more than a line shows; never the whole of a large message

/** Who or what an entry is, in one word for people. */
export function kindOf(entry: Entry): string {
  if (entry.type !== "message") return entry.type;
  return entry.message.role === "toolResult" ? "result" : entry.message.role;
}

/** What an answer cost, in microdollars; null where nobody said. */
export function costIn(entry: Entry): number | null {
  if (entry.type !== "message" || entry.message.role !== "assistant") return null;
  return entry.message.usage?.costMicros ?? null;
}

/** The beginning of what an entry says; as it is stored, so whoever shows it makes it harmless. */
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
      return "(thinking, for the provider alone)";
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
