import type { Api } from "#edges/http/client/index";
import { fieldsOf } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { ContentBlock } from "#log/message";
import { tellingArgument } from "../../text/telling-argument.ts";

type Hydrated = Pick<Api["hydrate"]["response"], "seeds" | "messages" | "context">;

/** A message as it would be given to a model, for reading. */
export interface RestoredMessage {
  readonly role: string;
  readonly words: string;
  /** Where it stands in the log; null: in seeds, or nowhere. */
  readonly entry: string | null;
  readonly note: string;
}

const WORDS_MAX = 4_000;

function blockWords(block: ContentBlock): string {
  if (block.type === "text") return block.text;
  if (block.type === "toolCall") return `calls ${block.name} ${tellingArgument(block.input)}`.trim();
  return `[${block.type}]`;
}

/** What is long is cut; all of it is in the JSON. */
function cut(words: string): string {
  const left = words.length - WORDS_MAX;
  if (left <= 0) return words;
  return `${words.slice(0, WORDS_MAX).toWellFormed()}… (${left.toLocaleString("en-US")} more characters in the JSON)`;
}

function wordsIn(content: unknown): string {
  if (typeof content === "string") return cut(content);
  if (!Array.isArray(content)) return cut(JSON.stringify(content ?? ""));
  return cut(content.map((block) => blockWords(block as ContentBlock)).join("\n"));
}

function seedMessage(seed: Json): RestoredMessage {
  const { role, content, isNew } = fieldsOf(seed);
  return {
    role: typeof role === "string" ? role : "user",
    words: wordsIn(content),
    entry: null,
    note: isNew === true ? "new" : "",
  };
}

export function restoredMessages(
  what: "context" | "messages" | "seeds",
  { seeds, messages, context }: Hydrated,
): readonly RestoredMessage[] {
  if (what === "seeds") return seeds.map(seedMessage);
  if (what === "messages")
    return messages.map(({ id, message, hidden }) => ({
      role: message.role,
      words: wordsIn(message.content),
      entry: id,
      note: hidden ? "hidden from the context" : "",
    }));
  const system = context.system === null ? [] : [{ role: "system", content: context.system }];
  return [...system, ...context.messages].map(({ role, content }) => ({
    role,
    words: wordsIn(content),
    entry: null,
    note: "",
  }));
}
