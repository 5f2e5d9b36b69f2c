import type { Message, ToolCall } from "#log/entry";
import type { NativeMessage } from "#sending/upstream";
import type { UpstreamEvent } from "#turn/rules/turn-record";

/** What is known of a prompt, to be compared with the agent's record of it. */
export interface Heard {
  /** The last words of the prompt. */
  readonly asked: string;
  isKnown(call: Pick<ToolCall, "id" | "name" | "input">): boolean;
  /** The words that came; null when the agent's words are not wanted. */
  readonly words: string | null;
}

/**
 * What an agent has on record for a prompt and did not live, or was not let, to tell. An agent may tell of a command
 * only after it has begun it: who did not look here would take the prompt for untouched, and have it run once more.
 */
export function unheardEvents(
  record: readonly Pick<NativeMessage, "message" | "cutOff">[],
  heard: Heard,
): readonly UpstreamEvent[] {
  const { asked } = heard;
  const start = record.findLastIndex(({ message }) => message.role === "user");
  const prompt = record[start];
  // Otherwise the prompt did not get as far as the record, and what follows there was told long ago.
  if (prompt === undefined || !textOf(prompt.message).trimEnd().endsWith(asked.trimEnd())) return [];
  const answers = record.slice(start + 1);
  const results = new Map(
    answers.flatMap(({ message, cutOff }) =>
      message.role === "toolResult"
        ? [[message.toolCallId, cutOff === true ? undefined : textOf(message)] as const]
        : [],
    ),
  );
  let words = heard.words;
  return answers.flatMap(({ message }) =>
    message.content.flatMap((block): readonly UpstreamEvent[] => {
      if (block.type === "text" && message.role === "assistant" && words !== null) {
        const [rest, more] = beyond(words, block.text);
        words = rest;
        return more === "" ? [] : [{ type: "text", text: more }];
      }
      return block.type !== "toolCall" || heard.isKnown(block)
        ? []
        : callEvents(block, results.get(block.id));
    }),
  );
}

/** What is left of the words that were heard, and what a text says beyond them; null once the two have parted. */
function beyond(heard: string, text: string): readonly [string | null, string] {
  if (heard.startsWith(text)) return [heard.slice(text.length), ""];
  return text.startsWith(heard) ? ["", text.slice(heard.length)] : [null, ""];
}

function callEvents(block: ToolCall, output: string | undefined): readonly UpstreamEvent[] {
  const call = { type: "tool", call: block.id, name: block.name, input: block.input } as const;
  const started = { ...call, state: "started" } as const;
  return output === undefined ? [started] : [started, { ...call, state: "done", output }];
}

function textOf({ content }: Message): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
}
