import { LogError } from "./errors.ts";

/** What an option that is a number may be. */
export type NumberKind = "count" | "amount" | "port" | "limit" | "price";

interface NumberRule {
  readonly allows: (value: number) => boolean;
  readonly text: string;
}

const NUMBERS: { readonly [K in NumberKind]: NumberRule } = {
  /** At least one. */
  count: {
    allows: (value) => Number.isSafeInteger(value) && value >= 1,
    text: "a positive integer",
  },
  /** None, or more. */
  amount: {
    allows: (value) => Number.isSafeInteger(value) && value >= 0,
    text: "an integer of at least 0",
  },
  port: {
    allows: (value) => Number.isInteger(value) && value >= 0 && value <= 65_535,
    text: "an integer from 0 to 65535",
  },
  price: { allows: (value) => Number.isFinite(value) && value >= 0, text: "a finite number of at least 0" },
  /** A time or a maximum; infinite where there is none. */
  limit: { allows: (value) => value >= 0, text: "a number of at least 0" },
};

/** Options over their defaults; one that is undefined is left out. The one way in which options are merged. */
export function withDefaults<D extends object, O extends object>(
  defaults: D,
  options: O,
): D & Omit<O, keyof D> {
  const input = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(input) } as D & Omit<O, keyof D>;
}

/** Refuses a number that cannot be meant; one that is undefined is left out. */
export function checkNumbers(options: object, kinds: { readonly [name: string]: NumberKind }): void {
  const values = options as { readonly [name: string]: unknown };
  for (const [name, kind] of Object.entries(kinds)) {
    const value = values[name];
    const { allows, text } = NUMBERS[kind];
    if (value === undefined || (typeof value === "number" && allows(value))) continue;
    const got = typeof value === "number" ? String(value) : JSON.stringify(value);
    throw new LogError("invalid_request", `${name} must be ${text} (got ${got})`, { name });
  }
}
