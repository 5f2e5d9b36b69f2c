import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { readJson } from "#log/json/read-json";

/** Why a service would answer a request with 400; null where every one of them accepts it. For models that stand in for one. */
export function refusedPrompt(prompt: LanguageModelV4Prompt): string | null {
  const messages = prompt.filter(({ role }) => role !== "system");
  if (messages[0]?.role !== "user") return "the first message must be the user's";
  let open: readonly string[] = [];
  for (const message of messages) {
    const results = idsIn(message, "tool-result");
    if (message.role === "tool" ? !isSame(open, results) : open.length > 0)
      return `the calls [${open.join()}] have the results [${results.join()}]`;
    if (message.content.length === 0) return `a message of the ${message.role} is empty`;
    if (hasBlankText(message)) return `a text of the ${message.role} is blank`;
    if (hasOddInput(message)) return "the input of a call must be an object";
    open = message.role === "assistant" ? idsIn(message, "tool-call") : [];
    if (new Set(open).size < open.length) return "the ids of calls must be unique";
  }
  return open.length === 0 ? null : `the calls [${open.join()}] have no results`;
}

type Part = Exclude<LanguageModelV4Message["content"], string>[number];

function partsOf({ content }: LanguageModelV4Message): readonly Part[] {
  return typeof content === "string" ? [] : content;
}

/** Calls that the provider runs itself are answered in the same message. */
function idsIn(message: LanguageModelV4Message, type: "tool-call" | "tool-result"): readonly string[] {
  const isWanted = type === "tool-call" ? message.role === "assistant" : message.role === "tool";
  return partsOf(message).flatMap((part) => {
    if (!isWanted || part.type !== type || !("toolCallId" in part)) return [];
    return "providerExecuted" in part && part.providerExecuted ? [] : [part.toolCallId];
  });
}

/** An empty text may carry a signature. */
function hasBlankText(message: LanguageModelV4Message): boolean {
  return partsOf(message).some(
    (part) => part.type === "text" && part.text.trim() === "" && part.providerOptions === undefined,
  );
}

function hasOddInput(message: LanguageModelV4Message): boolean {
  return partsOf(message).some((part) => part.type === "tool-call" && !isObject(part.input));
}

function isObject(input: unknown): boolean {
  try {
    const value = typeof input === "string" ? readJson(input) : input;
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.toSorted().join("\n") === others.toSorted().join("\n");
}
