import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { AgentModel, ModelRequest } from "#agent/models/model";
import { openModel } from "#agent/models/open-model";
import { callOptionsOf } from "#agent/models/request";

type Fetch = typeof globalThis.fetch;

const MAKERS: { readonly [provider: string]: (fetch: Fetch, name?: string) => LanguageModelV4 } = {
  anthropic: (fetch, name = "claude-sonnet-5") => createAnthropic({ apiKey: "dummy", fetch })(name),
  openai: (fetch, name = "gpt-5") => createOpenAI({ apiKey: "dummy", fetch }).responses(name),
  "openai-compatible": (fetch, name = "local") =>
    createOpenAICompatible({ baseURL: "http://127.0.0.1:9", name: "openai-compatible", fetch })(name),
  google: (fetch, name = "gemini-3-pro") => createGoogle({ apiKey: "dummy", fetch })(name),
};
export const WIRE_PROVIDERS: readonly string[] = Object.keys(MAKERS);

/** What a provider's real package puts on the wire for a request, byte for byte; nothing leaves the process. */
export interface Wire {
  readonly asked: AgentModel;
  bodyOf(request: ModelRequest): Promise<string>;
}

export async function wireOf(provider: string, name?: string): Promise<Wire> {
  const bodies: string[] = [];
  const keep: Fetch = (_, init) => {
    bodies.push(typeof init?.body === "string" ? init.body : "");
    return Promise.resolve(new Response("kept", { status: 500 }));
  };
  const make = MAKERS[provider];
  if (make === undefined) throw new Error(`No provider ${provider}`);
  const asked = await openModel(make(keep, name));
  return {
    asked,
    bodyOf: async (request) => {
      await (asked.model as LanguageModelV4).doStream(callOptionsOf(asked, request)).then(
        () => null,
        () => null,
      );
      const body = bodies.pop();
      if (body === undefined) throw new Error("The package sent nothing");
      return body;
    },
  };
}
