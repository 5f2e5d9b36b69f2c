import type {
  LanguageModelV4FilePart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import type { ContextMessage } from "#log/projections/pairs";
import type { Asking } from "./assistant-parts.ts";
import { showsMediaInResults } from "./dialect.ts";
import { type ShownPart, shownParts, textPart } from "./media-parts.ts";

/** The results of one answer's calls. */
export interface ResultParts {
  readonly results: readonly LanguageModelV4ToolResultPart[];
  /** What results cannot hold for this provider: a person shows it right behind them. */
  readonly beside: readonly ShownPart[];
}

const NO_OUTPUT = "(no output)"; // an empty result is refused by some

export function toolResultParts(messages: readonly ContextMessage[], asking: Asking): ResultParts {
  const beside: ShownPart[] = [];
  const results = messages.map((message): LanguageModelV4ToolResultPart => {
    const id = asking.names.of(message.toolCallId ?? "");
    const parts = shownParts(message.content, asking.dialect);
    const held = message.isError !== true;
    const output = outputOf(
      parts.map((part) => {
        if (part.type === "text" || (held && showsMediaInResults(asking.dialect, part.mediaType)))
          return part;
        beside.push(textPart(`[of the result of ${id}]`), part);
        return textPart(`[${part.mediaType}: shown behind the results]`);
      }),
      message.isError === true,
    );
    return {
      type: "tool-result",
      toolCallId: id,
      toolName: asking.names.name(message.toolName ?? ""),
      output,
    };
  });
  return { results, beside };
}

function outputOf(parts: readonly ShownPart[], isError: boolean): LanguageModelV4ToolResultOutput {
  if (parts.some(isFile)) return { type: "content", value: parts.map((part) => ({ ...part })) };
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const value = text === "" ? NO_OUTPUT : text;
  return isError ? { type: "error-text", value } : { type: "text", value };
}

function isFile(part: ShownPart): part is LanguageModelV4FilePart {
  return part.type === "file";
}
