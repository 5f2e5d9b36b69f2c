import { subjectOf } from "#agent/tools/folder-path";
import {
  DEFAULT_POLICY,
  type Decision,
  type PermissionRule,
  type Subject,
  decide,
} from "#agent/tools/permissions";
import type { CallToDecide } from "#agent/agent-options";
import { type Fields, fieldsIn, textIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

/** The member of a conversation's config that says what was allowed for good. */
const MEMBER = "permissions";

/** The rules a conversation has been given; whatever is no rule says nothing. */
export function rulesIn(config: Fields): readonly PermissionRule[] {
  const stored = config[MEMBER];
  return Array.isArray(stored) ? (stored as readonly Json[]).flatMap(ruleIn) : [];
}

function ruleIn(stored: Json): readonly PermissionRule[] {
  const { tool, pattern, inside } = fieldsIn(stored) ?? {};
  const name = textIn(tool);
  // Only what a person allowed is kept there.
  if (name === null || fieldsIn(stored)?.["decision"] !== "allow") return [];
  const what = textIn(pattern);
  if (pattern !== undefined && what === null) return [];
  return [
    {
      tool: name,
      ...(what === null ? {} : { pattern: what }),
      ...(inside === true ? { inside } : {}),
      decision: "allow",
    },
  ];
}

/** The config with one rule more. */
export function withRule(config: Fields, rule: PermissionRule): Fields {
  const before = Array.isArray(config[MEMBER]) ? (config[MEMBER] as readonly Json[]) : [];
  return { ...config, [MEMBER]: [...before, { ...rule }] };
}

/** The rule that allows calls like this one from now on; null where none would. */
export function alwaysRule(tool: string, subject: Subject): PermissionRule | null {
  const rule = ruleFor(tool, subject);
  // A star in a name would allow more than what was asked for.
  if (rule.pattern?.includes("*") === true || tool.includes("*")) return null;
  return decide({ rules: [rule], otherwise: "ask" }, { tool, subject }) === "allow" ? rule : null;
}

function ruleFor(tool: string, subject: Subject): PermissionRule {
  if (subject.kind === "command") return { tool, pattern: subject.command.trim(), decision: "allow" };
  if (subject.kind === "none") return { tool, decision: "allow" };
  return subject.inside
    ? { tool, inside: true, decision: "allow" }
    : { tool, pattern: subject.path, decision: "allow" };
}

export function ruleText({ tool, pattern, inside }: PermissionRule): string {
  if (inside === true) return `${tool} in this folder`;
  if (pattern === undefined) return tool;
  return tool === "shell" ? "this very command" : `${tool} of this path`;
}

/** What may run here without a question: the default, and what a person allowed for good in this conversation. */
export class AlwaysRules {
  #rules: readonly PermissionRule[];

  constructor(rules: readonly PermissionRule[]) {
    this.#rules = rules;
  }

  add(rule: PermissionRule): void {
    this.#rules = [...this.#rules, rule];
  }

  async decide({ tool, input, cwd }: CallToDecide): Promise<Decision> {
    const subject = await subjectOf(tool.name, input, cwd ?? process.cwd());
    const rules = [...DEFAULT_POLICY.rules, ...this.#rules];
    return decide({ ...DEFAULT_POLICY, rules }, { tool: tool.name, subject });
  }
}
