import { parseArgs } from "node:util";
import { LogError } from "#log/errors";

/**
 * The options of a command as help shows them, each with its description: `"-n, --limit COUNT"`. A value in lower case with bars
 * lists the words it takes; `...` after it: the option may be repeated. A second name is an alias. A key without a dash is a
 * heading; an option without a description is not shown.
 */
export type OptionTexts = Readonly<Record<string, string>>;

export interface Option {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly short: string | null;
  /** The placeholder of its value; null: a switch. */
  readonly value: string | null;
  /** The words that it takes; empty: it takes any text. */
  readonly choices: readonly string[];
  readonly isRepeatable: boolean;
  readonly description: string;
}

export const GLOBAL_OPTIONS: OptionTexts = {
  "--store ADDRESS": "sqlite:PATH, jsonl:DIR, postgres://HOST/DATABASE or memory: (or set HOLDFAST_STORE)",
  "--space NAME": "the namespace of a tenant (or set HOLDFAST_SPACE; default: default)",
  "--json": "print JSON: one object, or one per line",
  "-q, --quiet": "print results and errors, no remarks and no progress",
  "--no-color": "print without color (or set NO_COLOR)",
  "--debug": "print the stack of an error (or set HOLDFAST_DEBUG=1)",
  "-h, --help": "print help for a command",
  "-V, --version": "print the version",
};

export function optionsIn(texts: OptionTexts): readonly Option[] {
  return Object.entries(texts).flatMap(([key, description]) => {
    if (!key.startsWith("-")) return [];
    const flags = key.split(", ");
    const [, value = null] = /^\S+ (.*)$/.exec(flags.at(-1) ?? "") ?? [];
    const names = flags.flatMap((flag) => /^--([^ ]+)/.exec(flag)?.slice(1, 2) ?? []);
    const [, short = null] = /^-(\w)$/.exec(flags[0] ?? "") ?? [];
    const placeholder = value?.replace("...", "") ?? null;
    return {
      name: names[0] ?? "",
      aliases: names.slice(1),
      short,
      value: placeholder,
      choices: placeholder !== null && /^[a-z|-]+$/.test(placeholder) ? placeholder.split("|") : [],
      isRepeatable: value?.endsWith("...") === true,
      description,
    };
  });
}

export interface ParsedLine {
  readonly values: Readonly<Record<string, unknown>>;
  /** How the caller typed each option, for messages about it. */
  readonly spellings: Readonly<Record<string, string>>;
  /** The arguments, each with its place in the line. */
  readonly positionals: readonly { readonly text: string; readonly index: number }[];
}

/** Reads a line without rejecting anything. `unknown` are options that are not in the table. */
export function scanLine(
  argv: readonly string[],
  options: readonly Option[],
): ParsedLine & { readonly unknown: readonly string[]; readonly problems: readonly string[] } {
  const byName = new Map(
    options.flatMap((option) => [option.name, ...option.aliases].map((name) => [name, option])),
  );
  const config = Object.fromEntries(
    [...byName].map(([name, { value, short, name: own }]) => [
      name,
      {
        type: value === null ? ("boolean" as const) : ("string" as const),
        ...(short !== null && name === own ? { short } : {}),
      },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...argv],
    options: config,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: Record<string, unknown> = {};
  const spellings: Record<string, string> = {};
  const [positionals, unknown, problems]: [{ text: string; index: number }[], string[], string[]] = [
    [],
    [],
    [],
  ];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push({ text: token.value, index: token.index });
    if (token.kind !== "option") continue;
    const option = byName.get(token.name);
    if (option === undefined) unknown.push(token.rawName);
    else {
      problems.push(...problemsOf(token, option));
      const { name, value, isRepeatable } = option;
      const earlier = values[name];
      spellings[name] = token.rawName;
      values[name] =
        value === null
          ? true
          : isRepeatable
            ? [...(Array.isArray(earlier) ? earlier : []), token.value]
            : token.value;
    }
  }
  return { values, spellings, positionals, unknown, problems };
}

interface OptionToken {
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

/** Names the option as it was typed. */
function problemsOf(
  { rawName, value, inlineValue }: OptionToken,
  { value: placeholder }: Option,
): readonly string[] {
  if (placeholder === null)
    return inlineValue === true ? [`${rawName} takes no value, but got "${value}"`] : [];
  if (value === undefined) return [`${rawName} needs a value: ${rawName} ${placeholder}`];
  if (inlineValue !== true && /^-./.test(value))
    return [
      `${rawName} needs a value, but "${value}" looks like an option. For that value, type ${rawName.startsWith("--") ? `${rawName}=` : rawName}${value}`,
    ];
  return [];
}

/** The options of a call, read by kind. */
export class Flags {
  readonly #parsed: Pick<ParsedLine, "values" | "spellings">;

  constructor(line: Pick<ParsedLine, "values" | "spellings">) {
    this.#parsed = line;
  }

  text(name: string): string | undefined {
    const value = this.#parsed.values[name];
    return typeof value === "string" ? value : undefined;
  }

  /** The values of an option that may be repeated. */
  list(name: string): readonly string[] {
    const value = this.#parsed.values[name];
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  }

  has(name: string): boolean {
    return this.#parsed.values[name] === true;
  }

  /** The option as the caller typed it. */
  spelling(name: string): string {
    return this.#parsed.spellings[name] ?? `--${name}`;
  }

  /** One of these words. An option that is a field of an operation is checked there. */
  choice<const W extends string>(name: string, words: readonly W[]): W | undefined {
    const text = this.text(name);
    const word = words.find((one) => one === text);
    if (text !== undefined && word === undefined)
      throw new LogError(
        "invalid_request",
        `Invalid ${this.spelling(name)} "${text}". Use ${words.join(", ")}`,
        {
          option: name,
        },
      );
    return word;
  }

  count(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
    throw new LogError("invalid_request", `Invalid ${this.spelling(name)} "${text}". Use a whole number`, {
      option: name,
    });
  }

  /** The fields among these that were typed, by the names of their options. */
  texts<const N extends string>(...names: readonly N[]): { readonly [name in N]?: string } {
    const typed = names.map((name) => [name, this.text(name)]).filter(([, text]) => text !== undefined);
    return Object.fromEntries(typed) as { readonly [name in N]?: string };
  }
}

const ARGUMENT = /^[A-Z"]/;

/** Least and most arguments that one of these forms takes, such as `ID[@ENTRY] [TITLE...]`. */
export function argumentCounts(forms: readonly string[]): readonly [number, number] {
  const counts = forms.map((form) => {
    const words = form.replaceAll(/(?<=\w)\[[^\]]*\]| --[a-z-]+ [A-Z]+|(?<=\[)-- /g, "").split(" ");
    const required = words.filter((word) => ARGUMENT.test(word)).length;
    const optional = words.filter((word) => /^\[[A-Z]/.test(word)).length;
    return [required, form.includes("...") ? Number.POSITIVE_INFINITY : required + optional] as const;
  });
  return [Math.min(...counts.map(([min]) => min)), Math.max(...counts.map(([, max]) => max))];
}
