import type { BranchEntry } from "#conversation/history-pages";
import type { Json } from "#log/json/json-text";
import type { ContentBlock } from "#log/message";
import { reasonText } from "#operations/text";

/** What stands under a heading, before any page makes signs of it. All of it may be a stranger's. */
export type Part =
  /** A line that tells of something. */
  | { readonly as: "line"; readonly text: string }
  | { readonly as: "text" | "json" | "thinking"; readonly text: string }
  | { readonly as: "call"; readonly name: string; readonly input: string };

export interface Section {
  /** Whose words they are, for how they look. */
  readonly by: "user" | "assistant" | "tool" | "note";
  readonly heading: string;
  readonly parts: readonly Part[];
}

/** An entry as people read it; null for those that they do not. */
export function sectionOf(entry: BranchEntry): Section | null {
  switch (entry.type) {
    case "message": {
      const { message } = entry;
      const parts = message.content.flatMap(partOf);
      if (message.role === "user") return { by: "user", heading: "User", parts };
      if (message.role === "assistant") {
        const heading = message.model === undefined ? "Assistant" : `Assistant, ${message.model}`;
        return { by: "assistant", heading, parts };
      }
      const failed = message.isError === true ? ", failed" : "";
      return { by: "tool", heading: `Result of ${message.toolName ?? message.toolCallId}${failed}`, parts };
    }
    case "seed":
      return note(`Inputs of run ${entry.run}`, [{ as: "json", text: json(entry.messages) }]);
    case "compaction":
      return note("Summary that replaces older messages for the model", [
        { as: "text", text: entry.summary },
      ]);
    case "branch_summary":
      return note("Summary of another branch", [{ as: "text", text: entry.summary }]);
    case "model_change":
      return note(`Model: ${entry.model}`, []);
    case "reset":
      return note(
        "Context cleared",
        entry.reason === undefined ? [] : [{ as: "line", text: reasonText(entry.reason) }],
      );
    case "custom":
      return entry.inContext === true ? note(entry.customType, (entry.content ?? []).flatMap(partOf)) : null;
    default:
      return null;
  }
}

function note(heading: string, parts: readonly Part[]): Section {
  return { by: "note", heading, parts };
}

function partOf(block: ContentBlock): readonly Part[] {
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? [{ as: "text", text: block.text }] : [];
    case "thinking":
      return typeof block.thinking === "string" ? [{ as: "thinking", text: block.thinking }] : [];
    case "redactedThinking":
      return [{ as: "line", text: "Thinking that only its provider can read." }];
    case "toolCall": {
      const { name, input } = block as { readonly name: string; readonly input: Json };
      return [{ as: "call", name, input: json(input) }];
    }
    case "image":
    case "audio":
    case "file": {
      const { name, mediaType, blob } = block as { name?: string; mediaType?: string; blob?: string };
      const texts = [mediaType, name, blob].filter((one) => typeof one === "string");
      return [{ as: "line", text: `Attached ${block.type}: ${texts.join(" ")}` }];
    }
    default:
      return [{ as: "json", text: json(block) }];
  }
}

function json(value: Json | undefined): string {
  return JSON.stringify(value ?? null, null, 2);
}

/** What a page says of itself at its top. */
export function redactionNote(redacted: boolean): string {
  return redacted
    ? "Redacted: detected secrets were removed. Base64 data and images were not searched."
    : "Not redacted: it may contain secrets.";
}
