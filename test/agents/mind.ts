import type { Reading } from "./wire.ts";
import type { Reply } from "./reply.ts";

/**
 * A model that knows nothing but what the request holds, so that its answer proves what context it was sent:
 * `remember KEY=VALUE`, `what is KEY?`, `run: COMMAND`, `run asking: COMMAND`.
 */
export function mind(reading: Reading): Reply {
  if (reading.toolResult !== undefined) return { text: `Done: ${firstLine(reading.toolResult)}` };
  const [, asking, command] = /run( asking)?: *(.+)/.exec(reading.prompt) ?? [];
  if (command !== undefined) return { command, asking: asking !== undefined };
  const noted = /remember (\w+=\w+)/.exec(reading.prompt)?.[1];
  if (noted !== undefined) return { text: `Noted ${noted}.` };
  const asked = /what is (\w+)\?/.exec(reading.prompt)?.[1];
  if (asked !== undefined) return { text: recall(asked, reading.said) };
  return { text: `You said: ${firstLine(reading.prompt)}` };
}

function recall(key: string, said: readonly string[]): string {
  const values = said.flatMap((text) => [...text.matchAll(new RegExp(`\\b${key}=(\\w+)`, "g"))]);
  const value = values.at(-1)?.[1];
  return value === undefined ? `I do not know ${key}.` : `${key} is ${value}`;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
