export { wholePairs } from "#log/projections/whole-pairs";
export { type AiSdkMessage, fromAiSdk, toAiSdk } from "./ai-sdk.ts";
export { type AnthropicMessage, fromAnthropic, toAnthropic } from "./anthropic.ts";
export { loadImages, storeImages } from "./images.ts";
export { type OpenAIMessage, fromOpenAI, toOpenAI } from "./openai.ts";
