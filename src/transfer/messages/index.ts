export { fromAiSdk, toAiSdk, type AiSdkMessage, type AiSdkMessageLike } from "./ai-sdk.ts";
export { fromAnthropic, toAnthropic, type AnthropicMessage, type AnthropicMessageLike } from "./anthropic.ts";
export { loadImages, storeImages, type BlobPlace } from "./images.ts";
export { fromOpenAI, toOpenAI, type OpenAIMessage, type OpenAIMessageLike, type Read } from "./openai.ts";
export type { Omission, Sayable, WriteOptions } from "./shape.ts";
