import type { EntryBody, Skill } from "#log/entry";
import { fieldsOf, textIn, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { ToolResultMessage } from "#log/message";
import { LogError } from "#log/errors";
import type { Tool } from "#turn/effects/tool";
import { recordOf, withoutSkill, withSkill, type Skills } from "./skills.ts";

const ACTIVATE = "activate_skill";
const DEACTIVATE = "deactivate_skill";

export const SKILL_TOOLS: readonly string[] = [ACTIVATE, DEACTIVATE];

const INPUT = {
  type: "object",
  properties: { name: { type: "string", description: "The name of the skill, as listed" } },
  required: ["name"],
  additionalProperties: false,
} as const;

const nameIn = (input: Json): string => wordsIn(fieldsOf(input)["name"]);

/** What a model may do about skills. What became active is written with the result: `skillBodies`. */
export function skillTools(skills: Skills, cwd: string | null): readonly Tool[] {
  return [
    {
      name: ACTIVATE,
      description:
        "Activate a listed skill. Its instructions are part of your system prompt from the next step until you deactivate it.",
      input: INPUT,
      effect: "none",
      run: async (input) => {
        const skill = await skills.get(nameIn(input), cwd);
        const { name } = skill;
        if (!skill.forModel)
          throw new LogError("invalid_request", `Only the user can activate the skill ${name}`);
        const content = `Skill ${name} is now active. Its instructions are in the system prompt.`;
        return { content, details: { activated: { ...recordOf(skill) } } };
      },
    },
    {
      name: DEACTIVATE,
      description: "Deactivate an active skill. Its instructions are removed from your system prompt.",
      input: INPUT,
      effect: "none",
      run: async (input) => {
        const name = nameIn(input);
        return {
          content: `Skill ${name} is no longer active.`,
          details: { deactivated: name },
        };
      },
    },
  ];
}

/** The active skills after a result of one of these tools; the same list where it changes nothing. */
export function skillsAfter(active: readonly Skill[], result: ToolResultMessage): readonly Skill[] {
  if (result.isError === true || !SKILL_TOOLS.includes(result.toolName ?? "")) return active;
  const { activated, deactivated } = fieldsOf(result.details ?? null);
  if (result.toolName === DEACTIVATE) return withoutSkill(active, wordsIn(deactivated));
  const { name, source, digest } = fieldsOf(activated ?? null);
  const skillName = textIn(name);
  if (skillName === null) return active;
  return withSkill(active, { name: skillName, source: wordsIn(source), digest: wordsIn(digest) });
}

/** States the whole list, as the log has it. */
export function skillChange(skills: readonly Skill[]): EntryBody {
  return { type: "skill_change", skills };
}
