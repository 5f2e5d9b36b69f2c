import type { Message } from "../entry.ts";
import type { UpstreamEvent } from "./turn-record.ts";

type ToolEvent = Extract<UpstreamEvent, { type: "tool" }>;

/** What an agent that is ended writes in place of an outcome; how far the tool had got, nobody knows. */
const CUT_OFF = /\baborted by user\b|\binterrupted by user\b/i;

/**
 * The calls an agent has on record for a prompt and died before it told of. Codex tells of a command a tenth of a second
 * after it has begun it: who did not look here would take the prompt for untouched, and have it run once more.
 */
export function unheardCalls(
  record: readonly { readonly message: Message }[],
  asked: string,
  isKnown: (call: string) => boolean,
): readonly ToolEvent[] {
  const start = record.findLastIndex(({ message }) => message.role === "user");
  const prompt = record[start];
  // Otherwise the prompt did not get as far as the record, and what follows there was told long ago.
  if (prompt === undefined || !textOf(prompt.message).trimEnd().endsWith(asked.trimEnd())) return [];
  const answers = record.slice(start + 1).map(({ message }) => message);
  const results = new Map(
    answers.flatMap((message) =>
      message.role === "toolResult" ? [[message.toolCallId, textOf(message)] as const] : [],
    ),
  );
  return answers.flatMap((message) =>
    message.content.flatMap((block): readonly ToolEvent[] => {
      if (block.type !== "toolCall" || isKnown(block.id)) return [];
      const call = { type: "tool", call: block.id, name: block.name, input: block.input } as const;
      const started = { ...call, state: "started" } as const;
      const output = results.get(block.id);
      return output === undefined || CUT_OFF.test(output)
        ? [started]
        : [started, { ...call, state: "done", output }];
    }),
  );
}

function textOf({ content }: Message): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
}
