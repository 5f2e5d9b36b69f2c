import type { ModelRequest, ToolDefinition } from "#agent/models/model";
import type { Json } from "#log/json/json-text";
import type { ContentBlock } from "#log/message";
import type { ContextMessage } from "#log/projections/pairs";
import { type Wire, wireOf, WIRE_PROVIDERS } from "./wire-bodies.ts";

// Messages of a context as they are sent to a model.

export const tools: readonly ToolDefinition[] = [
  {
    name: "read",
    description: "Reads",
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
  },
  { name: "write", description: "Writes", inputSchema: { type: "object" } },
];
export const request = (
  messages: readonly ContextMessage[],
  more: Partial<ModelRequest> = {},
): ModelRequest => ({
  system: "You are a test.",
  tools,
  messages,
  reminder: "Today is the first day.",
  cacheKey: "c1",
  ...more,
});

export const user = (text: string): ContextMessage => ({
  role: "user",
  content: [{ type: "text", text }],
  entryId: null,
});
export const said = (content: readonly ContentBlock[], model?: string): ContextMessage => ({
  role: "assistant",
  content,
  entryId: null,
  ...(model === undefined ? {} : { model }),
});
export const result = (
  toolCallId: string,
  content: readonly ContentBlock[] | string,
  isError = false,
): ContextMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  ...(isError ? { isError } : {}),
  entryId: null,
});
export const call = (id: string, input: Json = { path: "a" }, raw?: string): ContentBlock => ({
  type: "toolCall",
  id,
  name: "read",
  input,
  ...(raw === undefined ? {} : { providerMetadata: { holdfast: { input: raw } } }),
});
const SIGNATURES: { readonly [provider: string]: { readonly [name: string]: Json } } = {
  anthropic: { signature: "sig" },
  openai: { itemId: "rs_1", reasoningEncryptedContent: "enc" },
  google: { thoughtSignature: "sig" },
};
export const thought = (provider: string, text = "hm"): ContentBlock => {
  const own = SIGNATURES[provider];
  return {
    type: "thinking",
    thinking: text,
    ...(own === undefined ? {} : { providerMetadata: { [provider]: own } }),
  };
};
export const PNG: string = "iVBORw0KGgo=";
export const image: ContentBlock = { type: "image", mediaType: "image/png", data: PNG };

const wires = new Map<string, Wire>();
for (const provider of WIRE_PROVIDERS) wires.set(provider, await wireOf(provider));
export function wire(provider: string): Wire {
  const found = wires.get(provider);
  if (found === undefined) throw new Error(provider);
  return found;
}
export const sent = async (provider: string, messages: readonly ContextMessage[]): Promise<string> =>
  wire(provider).bodyOf(request(messages));
