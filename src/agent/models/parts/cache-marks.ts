import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";

const MARK: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

/**
 * Marks up to where a service may keep what it has read. They are set when a request is made and are in no log. Three of the
 * four that are allowed: behind the system prompt and with it the tools; at the newest message, for the next request; and at
 * the message that was the newest in the request before, since a service looks for what it kept only a little way back.
 */
export function withCacheMarks(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const newest = prompt.length - 1;
  const answer = prompt.findLastIndex(({ role }) => role === "assistant");
  const before = answer === newest ? -1 : answer - 1;
  return prompt.map((message, at) =>
    message.role === "system" || at === newest || at === before ? marked(message) : message,
  );
}

function marked(message: LanguageModelV4Message): LanguageModelV4Message {
  return { ...message, providerOptions: { ...message.providerOptions, ...MARK } };
}

/** For a request without a system prompt: behind its tools. */
export const toolMark: { readonly providerOptions: SharedV4ProviderOptions } = { providerOptions: MARK };
