import { CLAUDE } from "./claude/claude.ts";
import { CODEX } from "./codex/codex.ts";
import { COMMON_ENDINGS, COMMON_EXAMPLES } from "./shared-endings.ts";
import { GEMINI } from "./gemini.ts";
import { OPENCODE } from "./opencode.ts";
import { PLAIN_DIALECT, type Vendor } from "./vendor.ts";

/** In the order in which a command line is searched for their names. */
export const VENDORS: readonly Vendor[] = [CLAUDE, CODEX, OPENCODE, GEMINI];

/** Any other agent. It may be a known one under another name, so what cannot be mistaken is understood from it as well. */
export const UNKNOWN_VENDOR: Vendor = {
  name: "generic",
  endings: COMMON_ENDINGS,
  examples: COMMON_EXAMPLES,
  dialect: {
    ...PLAIN_DIALECT,
    failureIn: (update) => Object.assign({}, ...VENDORS.map(({ dialect }) => dialect.failureIn(update))),
    toolName: (meta) =>
      VENDORS.map(({ dialect }) => dialect.toolName(meta)).find((name) => name !== null) ?? null,
    neverRan: (update) => VENDORS.some(({ dialect }) => dialect.neverRan(update)),
  },
  records: null,
};

/** What no agent is started with, since each may start others. */
export const NESTING_VARIABLES: ReadonlySet<string> = new Set(
  VENDORS.flatMap(({ dialect }) => dialect.nestingVariables),
);

const RUNNERS = /^(?:node|bun|deno|env|npx|bunx|uvx|npm|pnpm|yarn|exec|dlx|run|x)(?:\.cmd|\.exe)?$/;

/** Whose agent it is: by the name it was given, else by what its command line starts. */
export function vendorOf(name: string, command: readonly string[] = []): Vendor {
  const named = VENDORS.find((vendor) => vendor.name === name.toLowerCase());
  const program = programIn(command).toLowerCase();
  return named ?? VENDORS.find((vendor) => program.includes(vendor.name)) ?? UNKNOWN_VENDOR;
}

/** The program without the folder it lies in and the options it is given: either may name another agent. */
function programIn(command: readonly string[]): string {
  const isOption = (word: string): boolean => word.startsWith("-");
  const start = command.findIndex((word) => !isOption(word) && !RUNNERS.test(lastPart(word)));
  const options = command.findIndex((word, index) => index > start && isOption(word));
  return command
    .slice(Math.max(start, 0), options === -1 ? undefined : options)
    .map((word) => lastPart(word))
    .join(" ");
}

/** The name of a file; of one inside a package the path within it. */
function lastPart(word: string): string {
  const [, inside] = /^.*[/\\]node_modules[/\\](.+)$/s.exec(word) ?? [];
  return inside ?? word.replace(/^.*[/\\]/s, "");
}
