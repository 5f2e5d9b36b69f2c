import type { LanguageModelV4 } from "@ai-sdk/provider";
import { LogError } from "#log/errors";
import { checkNumbers } from "#log/with-defaults";
import type { AgentModel, ModelInput } from "./model.ts";
import { modelFacts } from "./model-table.ts";
import { type Provider, PROVIDERS, type ProviderSettings } from "./providers.ts";
import { simModel } from "./sim-model.ts";

export interface OpenModelOptions {
  /** Where the provider's service is, in place of where its package thinks it is. */
  readonly baseUrl?: string;
  /** Where keys and base URLs are read (default: the environment of the process). */
  readonly env?: { readonly [name: string]: string | undefined };
}

/**
 * A model to ask, by its name or as an object. What is missing is the caller's mistake and found here, before anything is
 * asked; whether a model of that name exists only its provider knows.
 */
export async function openModel(input: ModelInput, options: OpenModelOptions = {}): Promise<AgentModel> {
  if (typeof input === "string") return openNamed(input, options);
  if (typeof input === "object" && input !== null && "model" in input) return wholeModel(input);
  const model = checkModel(input);
  return withFacts(idOfModel(model), model);
}

type PartialModel = Pick<AgentModel, "id" | "model"> & Partial<AgentModel>;

/** A model with all that is known of it. Figures that cannot be meant are found here: after the answer it would be lost for them. */
export function wholeModel(partial: PartialModel): AgentModel {
  const { id, window = null, maxOutput = null, price = null } = partial;
  if (typeof id !== "string" || id.trim() === "")
    throw new LogError(
      "invalid_request",
      "The model id is empty. Use provider/name, for example openai/gpt-5.",
    );
  checkNumbers({ window: window ?? undefined, maxOutput: maxOutput ?? undefined }, SIZES);
  if (price !== null) {
    const { input, output } = price;
    if (input === undefined || output === undefined)
      throw new LogError(
        "invalid_request",
        `The price of ${id} must have input and output, in microdollars per million tokens (got ${JSON.stringify(price)})`,
        { model: id },
      );
    checkNumbers(price, PRICES);
  }
  return { id, model: checkModel(partial.model), window, maxOutput, price };
}

const PRICES = { input: "price", output: "price", cacheRead: "price", cacheWrite: "price" } as const;
const SIZES = { window: "count", maxOutput: "count" } as const;

/** `provider/name` of a model that was handed in. The package's own name of the provider says the API behind a dot. */
export function idOfModel(input: Exclude<ModelInput, string>): string {
  if ("id" in input) return input.id;
  const { provider, modelId } = input;
  return `${provider.split(".")[0] ?? provider}/${modelId}`;
}

function withFacts(id: string, model: LanguageModelV4): AgentModel {
  const { window, price } = modelFacts(id);
  return { id, model, window, maxOutput: null, price };
}

function checkModel(input: unknown): LanguageModelV4 {
  const model = input as Partial<LanguageModelV4> | null | undefined;
  const version: unknown = model?.specificationVersion;
  if (version === "v4" && typeof model?.doStream === "function") return model as LanguageModelV4;
  const is = typeof version === "string" ? `got specification ${version}` : "got another value";
  throw new LogError(
    "invalid_request",
    `The model must be a LanguageModelV4 of the AI SDK (${is}). Update its package: @ai-sdk/anthropic 4, @ai-sdk/openai 4, @ai-sdk/google 4 and @ai-sdk/openai-compatible 3 create such models.`,
  );
}

async function openNamed(id: string, options: OpenModelOptions): Promise<AgentModel> {
  if (id === "sim" || id.startsWith("sim/")) return withFacts(id, simModel(id));
  const slash = id.indexOf("/");
  const provider = Object.hasOwn(PROVIDERS, id.slice(0, slash)) ? PROVIDERS[id.slice(0, slash)] : undefined;
  const name = id.slice(slash + 1);
  if (slash === -1 || provider === undefined || name === "")
    throw new LogError(
      "invalid_request",
      `Unknown model ${JSON.stringify(id)}. Use provider/name, for example openai/gpt-5. Providers: ${Object.keys(PROVIDERS).join(", ")}, sim (needs no key).`,
      { model: id },
    );
  const settings = settingsOf(id, provider, options);
  return withFacts(id, await load(id, provider, () => provider.load(settings, name)));
}

function settingsOf(id: string, provider: Provider, options: OpenModelOptions): ProviderSettings {
  const { baseUrl, env = process.env } = options;
  const { keyVariable, baseUrlVariable } = provider;
  const envUrl = baseUrlVariable === null ? undefined : env[baseUrlVariable];
  if (envUrl === "" && baseUrl === undefined)
    throw new LogError(
      "invalid_request",
      `${baseUrlVariable} is empty. Unset it, or set it to the URL of ${id}.`,
      { model: id },
    );
  const url = baseUrl ?? envUrl;
  if (url !== undefined && (!URL.canParse(url) || !/^https?:/i.test(url)))
    throw new LogError(
      "invalid_request",
      `The base URL of ${id} must be a complete http or https URL, such as http://127.0.0.1:8080/v1`,
      { model: id },
    );
  if (url === undefined && provider.needsBaseUrl)
    throw new LogError(
      "invalid_request",
      `Missing base URL for ${id}. Set --base-url or ${baseUrlVariable}, for example to http://127.0.0.1:8080/v1.`,
      { model: id },
    );
  const key = env[keyVariable];
  if (provider.needsKey && (key === undefined || key.trim() === "")) throw noKey(id, provider);
  // A header cannot hold it, and the error that says so would quote it.
  if (key !== undefined && /[^\x21-\x7e]/.test(key))
    throw new LogError(
      "invalid_request",
      `${keyVariable} contains a character that is invalid in an API key, such as a line break. Set it again.`,
      { model: id },
    );
  const apiKey = key === undefined || key === "" ? {} : { apiKey: key };
  return { ...apiKey, ...(url === undefined ? {} : { baseURL: url }) };
}

function noKey(id: string, { keyVariable }: Provider): LogError {
  return new LogError("invalid_request", `Missing API key for ${id}. Set ${keyVariable}.`, {
    model: id,
    variable: keyVariable,
  });
}

async function load(
  id: string,
  { packageName, baseUrlVariable }: Provider,
  loading: () => Promise<LanguageModelV4>,
): Promise<LanguageModelV4> {
  try {
    return checkModel(await loading());
  } catch (cause) {
    if (cause instanceof LogError) throw cause;
    const reason = cause instanceof Error ? cause.message : "";
    const missing = /cannot find (?:module|package)|failed to (?:load|resolve)/i.test(reason);
    throw new LogError(
      "invalid_request",
      missing
        ? `${id} requires a package. Run \`npm install ${packageName} zod\`.`
        : `Package ${packageName} failed to load for ${id}. Check ${baseUrlVariable ?? "its settings"}.`,
      { model: id, package: packageName },
      { cause },
    );
  }
}
