import { fieldsIn, textIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

export type Decision = "allow" | "ask" | "deny";

export interface PermissionRule {
  /** A tool by name; `*` stands for any letters. */
  readonly tool: string;
  /**
   * What the call is about: a path from the folder on (`src/**`), an absolute one, or a command (`git *`). In paths `*`
   * stays within a name and `**` does not; in commands `*` is anything. Any unless given.
   */
  readonly pattern?: string;
  /** Only for what lies in the folder. */
  readonly inside?: true;
  readonly decision: Decision;
}

export interface PermissionPolicy {
  readonly rules: readonly PermissionRule[];
  /** Where no rule speaks. */
  readonly otherwise: Decision;
}

/** What a call is about, as rules see it. */
export type Subject =
  /** `path` as it was named and `real` as it leads through links, both from the folder on where they lie in it. */
  | { readonly kind: "path"; readonly path: string; readonly real: string; readonly inside: boolean }
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "none" };

export interface PermissionCall {
  readonly tool: string;
  readonly subject: Subject;
}

/** What people who say nothing get: looking around in the folder and in memory is allowed, skills of theirs are, all else is asked for. */
export const DEFAULT_POLICY: PermissionPolicy = {
  rules: [
    { tool: "read", inside: true, decision: "allow" },
    { tool: "search", inside: true, decision: "allow" },
    { tool: "activate_skill", decision: "allow" },
    { tool: "deactivate_skill", decision: "allow" },
    { tool: "recall", decision: "allow" },
  ],
  otherwise: "ask",
};

/**
 * A `deny` that fits always holds. Of the other rules that fit, the most specific decides: a tool's own name before a
 * pattern of names, then the longer pattern; between equals, `ask`.
 */
export function decide(policy: PermissionPolicy, call: PermissionCall): Decision {
  const fitting = policy.rules.filter((rule) => fits(rule, call));
  if (fitting.some(({ decision }) => decision === "deny")) return "deny";
  const [first] = fitting.toSorted(
    (one, other) =>
      specificity(other) - specificity(one) ||
      Number(other.decision === "ask") - Number(one.decision === "ask"),
  );
  return first?.decision ?? policy.otherwise;
}

/** What `--yes` makes of a decision: every question is answered, and nothing that is forbidden becomes allowed. */
export function answeredYes(decision: Decision): Decision {
  return decision === "ask" ? "allow" : decision;
}

const NAME_WEIGHT = 1_000_000;

function specificity({ tool, pattern, inside }: PermissionRule): number {
  const name = tool.includes("*") ? 0 : NAME_WEIGHT;
  const letters = (pattern ?? "").replaceAll("*", "").length;
  return name + (pattern === undefined ? 0 : 1 + letters) + (inside === true ? 1 : 0);
}

function fits(rule: PermissionRule, { tool, subject }: PermissionCall): boolean {
  if (!matches(rule.tool, tool, ANYTHING)) return false;
  const careful = rule.decision !== "allow";
  if (subject.kind === "path") return fitsPath(rule, subject, careful);
  if (rule.inside === true) return false;
  if (rule.pattern === undefined) return true;
  return subject.kind === "command" && fitsCommand(rule.pattern, subject.command, careful);
}

/** A link must not lead around a rule: what forbids fits by either name, what allows by both. */
function fitsPath(
  { pattern, inside }: PermissionRule,
  subject: Extract<Subject, { kind: "path" }>,
  careful: boolean,
): boolean {
  if (inside === true && !subject.inside) return false;
  if (pattern === undefined) return true;
  const names = [subject.path, subject.real].map((name) => matches(pattern, name, WITHIN_NAME));
  return careful ? names.includes(true) : names.every(Boolean);
}

// What makes one line several commands, or makes a part of it another's output.
const SEPARATORS = /&&|\|\||[;&|\n]|\$\(|`|[<>]\(/;
const SHELL_SIGNS = /[;&|\n`$<>(){}\\]/;

/**
 * A pattern allows a command only as one plain command: `git *` does not allow `git status; rm -r .`. What forbids fits
 * by any part of the line.
 */
function fitsCommand(pattern: string, command: string, careful: boolean): boolean {
  if (pattern === "*") return true;
  const whole = command.trim();
  if (careful)
    return [whole, ...whole.split(SEPARATORS)].some((part) => matches(pattern, part.trim(), ANYTHING));
  if (pattern.includes("*") && SHELL_SIGNS.test(whole)) return false;
  return matches(pattern, whole, ANYTHING);
}

const ANYTHING = { star: "[^]*", stars: "[^]*" };
const WITHIN_NAME = { star: "[^/]*", stars: "[^]*" };

function matches(
  pattern: string,
  text: string,
  wildcards: { readonly star: string; readonly stars: string },
): boolean {
  const parts = pattern.split(/(\*\*\/|\*{2,}|\*)/);
  const source = parts.map((part) => {
    if (part === "*") return wildcards.star;
    if (part === "**/") return `(?:${wildcards.stars}/)?`;
    return part.startsWith("**") ? wildcards.stars : part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${source.join("")}$`).test(text);
}

/** The path or the command a call is about; null where it has neither. */
export function mainArgument(
  input: Json,
): { readonly kind: "path" | "command"; readonly text: string } | null {
  const fields = fieldsIn(input) ?? {};
  for (const kind of ["path", "command"] as const) {
    const text = textIn(fields[kind]);
    if (text !== null) return { kind, text };
  }
  return null;
}

export type Refusal = "rule" | "person" | "nobody";

/** What a model is told of a call that was not allowed. */
export function refusalText(tool: string, why: Refusal): string {
  if (why === "rule")
    return `${tool} was not run: a permission rule of this conversation denies this call. Do not try another way. Explain what you need it for.`;
  if (why === "person")
    return `${tool} was not run: the user denied permission. Do not try another way. Ask what they would prefer.`;
  return `${tool} was not run: it requires the user's permission, and the user is not available. Continue without it, or explain what needs to be allowed.`;
}
