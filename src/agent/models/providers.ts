import type { LanguageModelV4 } from "@ai-sdk/provider";

/** Settings for a provider's package; it may read missing ones from the environment. */
export interface ProviderSettings {
  readonly apiKey?: string;
  readonly baseURL?: string;
}

/** A provider that models are named after. */
export interface Provider {
  readonly packageName: string;
  /** The variables it is set by. */
  readonly keyVariable: string;
  readonly baseUrlVariable: string | null;
  /** Without it nothing can be asked; a server of one's own may want none. */
  readonly needsKey: boolean;
  readonly needsBaseUrl: boolean;
  load(settings: ProviderSettings, name: string): Promise<LanguageModelV4>;
}

/** By the name in front of the slash. Packages are loaded when one of their models is opened, and not before. */
export const PROVIDERS: { readonly [name: string]: Provider } = {
  anthropic: {
    packageName: "@ai-sdk/anthropic",
    keyVariable: "ANTHROPIC_API_KEY",
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    needsKey: true,
    needsBaseUrl: false,
    load: async (settings, name) => (await import("@ai-sdk/anthropic")).createAnthropic(settings)(name),
  },
  openai: {
    packageName: "@ai-sdk/openai",
    keyVariable: "OPENAI_API_KEY",
    baseUrlVariable: "OPENAI_BASE_URL",
    needsKey: true,
    needsBaseUrl: false,
    load: async (settings, name) => (await import("@ai-sdk/openai")).createOpenAI(settings).responses(name),
  },
  "openai-compatible": {
    packageName: "@ai-sdk/openai-compatible",
    keyVariable: "OPENAI_COMPATIBLE_API_KEY",
    baseUrlVariable: "OPENAI_COMPATIBLE_BASE_URL",
    needsKey: false,
    needsBaseUrl: true,
    load: async ({ baseURL = "", ...settings }, name) => {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      // Usage comes only when it is asked for.
      const options = { ...settings, baseURL, name: "openai-compatible", includeUsage: true };
      return createOpenAICompatible(options)(name);
    },
  },
  google: {
    packageName: "@ai-sdk/google",
    keyVariable: "GOOGLE_GENERATIVE_AI_API_KEY",
    baseUrlVariable: null,
    needsKey: true,
    needsBaseUrl: false,
    load: async (settings, name) => (await import("@ai-sdk/google")).createGoogle(settings)(name),
  },
};

/** An environment without the keys that models are asked with: a command of a tool has no use for them, and may show them. */
export function withoutModelKeys<E extends { readonly [name: string]: string | undefined }>(
  env: E,
): Partial<E> {
  const keys = new Set<string>(Object.values(PROVIDERS).map(({ keyVariable }) => keyVariable));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !keys.has(name))) as Partial<E>;
}
