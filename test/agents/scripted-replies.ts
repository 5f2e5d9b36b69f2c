import type { Reading } from "./wire.ts";
import type { Reply } from "./reply.ts";

/**
 * A model that knows nothing but what the request holds, so that its answer proves what context it was sent:
 * `remember KEY=VALUE`, `what is KEY?`, `what is KEY? #MARK`,
 * `run: COMMAND`, `run asking: COMMAND`.
 */
export function scriptedReply(reading: Reading): Reply {
  if (reading.toolResult !== undefined) return { text: `Done: ${firstLine(reading.toolResult)}` };
  // What was restored into a prompt stands before the new words, and must not be done once more.
  const words = reading.prompt.trimEnd().split("\n").at(-1) ?? "";
  const [, asking, command] = /run( asking)?: *(.+)/.exec(words) ?? [];
  if (command !== undefined) return { command, asking: asking !== undefined };
  const noted = /remember (\w+=\w+)/.exec(words)?.[1];
  if (noted !== undefined) return { text: `Noted ${noted}.` };
  // A mark keeps two answers apart that would otherwise be the same words.
  const [, asked, mark = ""] = /what is (\w+)\?( #\w+)?/.exec(words) ?? [];
  if (asked !== undefined) return { text: `${recall(asked, reading.said)}${mark}` };
  return { text: `You said: ${words}` };
}

function recall(key: string, said: readonly string[]): string {
  const values = said.flatMap((text) => [...text.matchAll(new RegExp(`\\b${key}=(\\w+)`, "g"))]);
  const value = values.at(-1)?.[1];
  return value === undefined ? `I do not know ${key}.` : `${key} is ${value}`;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
