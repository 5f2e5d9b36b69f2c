import type { Price } from "./model.ts";

/** Facts about a model that this package knows without calling it. */
export interface ModelFacts {
  readonly window: number | null;
  readonly price: Price | null;
  /** It refuses thinking of its own behind anything that has changed since. */
  readonly boundThinking?: boolean;
}

const MILLION = 1_000_000;

/** Dollars for a million tokens, as price lists have them. */
function dollars(input: number, output: number, cacheRead: number, cacheWrite?: number): Price {
  const micros = (amount: number): number => Math.round(amount * MILLION);
  const write = cacheWrite === undefined ? {} : { cacheWrite: micros(cacheWrite) };
  return { input: micros(input), output: micros(output), cacheRead: micros(cacheRead), ...write };
}

/**
 * Figures of 2026-11-16; what was recorded stays what it was reckoned by. By the beginning of `provider/name`; the longest that fits counts. A model whose price depends on the length of the prompt
 * has none here: a figure that is right for some requests only would be taken for right.
 */
const KNOWN: { readonly [prefix: string]: ModelFacts } = {
  sim: { window: 200_000, price: dollars(0, 0, 0, 0) },
  "sim-agent": { window: 200_000, price: dollars(0, 0, 0, 0) }, // the simulated agent of the command line
  "anthropic/claude-fable-5": { window: 1_000_000, price: dollars(10, 50, 1, 12.5) },
  "anthropic/claude-fable-5-1": {
    window: 1_000_000,
    price: dollars(10, 50, 0.25, 12.5),
    boundThinking: true,
  },
  "anthropic/claude-fable-5-2": { window: 1_000_000, price: null, boundThinking: true },
  "anthropic/claude-opus-5-5": { window: 1_000_000, price: dollars(4, 20, 0.2, 5), boundThinking: true },
  "anthropic/claude-opus-5": { window: 1_000_000, price: dollars(5, 25, 0.5, 6.25) },
  "anthropic/claude-opus-4-8": { window: 1_000_000, price: dollars(5, 25, 0.5, 6.25) },
  "anthropic/claude-opus-4-7": { window: 1_000_000, price: dollars(5, 25, 0.5, 6.25) },
  "anthropic/claude-opus-4-6": { window: 200_000, price: dollars(5, 25, 0.5, 6.25) },
  "anthropic/claude-opus-4-5": { window: 200_000, price: dollars(5, 25, 0.5, 6.25) },
  "anthropic/claude-opus-4-1": { window: 200_000, price: dollars(15, 75, 1.5, 18.75) },
  "anthropic/claude-sonnet-5-5": {
    window: 1_000_000,
    price: dollars(2, 10, 0.1, 2.5),
    boundThinking: true,
  },
  "anthropic/claude-sonnet-5": { window: 1_000_000, price: dollars(2, 10, 0.2, 2.5) },
  "anthropic/claude-sonnet-4-6": { window: 200_000, price: dollars(3, 15, 0.3, 3.75) },
  "anthropic/claude-sonnet-4-5": { window: 200_000, price: dollars(3, 15, 0.3, 3.75) },
  "anthropic/claude-haiku-5-5": { window: 1_000_000, price: null },
  "anthropic/claude-haiku-4-5": { window: 200_000, price: dollars(1, 5, 0.1, 1.25) },
  "openai/gpt-5": { window: 400_000, price: dollars(1.25, 10, 0.125) },
  "openai/gpt-5-mini": { window: 400_000, price: dollars(0.25, 2, 0.025) },
  "openai/gpt-5-nano": { window: 400_000, price: dollars(0.05, 0.4, 0.005) },
  "openai/gpt-4.1": { window: 1_047_576, price: dollars(2, 8, 0.5) },
  "openai/gpt-4.1-mini": { window: 1_047_576, price: dollars(0.4, 1.6, 0.1) },
  "openai/gpt-4o": { window: 128_000, price: dollars(2.5, 10, 1.25) },
  "openai/gpt-4o-mini": { window: 128_000, price: dollars(0.15, 0.6, 0.075) },
  "google/gemini-2.5-pro": { window: 1_048_576, price: null },
  "google/gemini-2.5-flash": { window: 1_048_576, price: dollars(0.3, 2.5, 0.03) },
  "google/gemini-2.5-flash-lite": { window: 1_048_576, price: dollars(0.1, 0.4, 0.01) },
};

const UNKNOWN: ModelFacts = { window: null, price: null };

/** A name may go on with a date or `latest`, which say which issue of the model is meant, and with nothing else. */
const ISSUE = /^(?:[-@](?:latest|\d{8}|\d{4}-\d\d-\d\d))?$/;

export function modelFacts(id: string): ModelFacts {
  if (id.startsWith("sim/")) return modelFacts("sim");
  const fitting = Object.keys(KNOWN).filter(
    (name) => id.startsWith(name) && ISSUE.test(id.slice(name.length)),
  );
  const longest = fitting.toSorted((one, other) => other.length - one.length)[0];
  return (longest === undefined ? undefined : KNOWN[longest]) ?? UNKNOWN;
}

/** The names that are known of a model's provider. */
export function modelNames(id: string): readonly string[] {
  const provider = id.slice(0, id.indexOf("/") + 1);
  return provider === "" ? [] : Object.keys(KNOWN).filter((name) => name.startsWith(provider));
}
