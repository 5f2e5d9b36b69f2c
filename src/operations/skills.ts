import {
  activateSkill as activate,
  deactivateSkill as deactivate,
  listSkills as listOf,
  type SkillWork,
} from "#agent/skills/change-skills";
import type { SkillSource } from "#agent/skills/skill-places";
import type { SkillList } from "#agent/skills/skills";
import type { Conversation } from "#conversation/conversation";
import type { EntryOf, Skill } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import { afterDeadOwner, conversationOf, keyed } from "./acts.ts";
import { operation, type OperationContext } from "./operation.ts";
import {
  answer,
  cursor,
  flag,
  idField,
  list,
  nextCursor,
  nullable,
  open,
  optional,
  pageLimit,
  text,
} from "./schemas.ts";

/** A skill that may be activated; where it lies is the affair of its machine. */
export type SkillView = Pick<SkillSource, "name" | "description" | "source" | "digest" | "forModel">;

/** What the log of a conversation says of a skill. */
interface UsedSkill {
  readonly name: string;
  readonly source: string | null;
  readonly digest: string | null;
  /** Whether it is active where the conversation is now. */
  readonly active: boolean;
  /** Where it was last activated. */
  readonly entry: string;
  readonly time: string;
}

/** A conversation that activated skills, by its own log. */
export interface SkillUse {
  readonly conversation: string;
  readonly title: string | null;
  readonly skills: readonly UsedSkill[];
}

const LOOKED_AT = 100; // conversations for each page
const NONE: SkillList = { skills: [], issues: [] };

const read = { group: "Memory and skills", access: "read", kind: "read" } as const;
const act = { group: "Memory and skills", access: "write", kind: "act", storesAnswer: true } as const;

const skillFields = {
  name: text(),
  description: text({ max: 100_000 }),
  source: text({ about: "the place and the folder inside it" }),
  digest: text({ about: "of SKILL.md" }),
  forModel: flag("whether models can activate it"),
};
const skillView = open<SkillView>(skillFields);
const skillName = text({
  min: 1,
  max: 64,
  pattern: /^[a-z0-9][a-z0-9-]*$/,
  about: "the name of a skill",
});
const change = {
  input: { conversation: idField, skill: skillName },
  output: answer({ skill: text(), changed: flag() }),
};

export const listSkills = operation({
  ...read,
  summary: "List the available and the active skills of a conversation",
  http: "GET /api/conversations/{conversation}/skills",
  input: { conversation: idField },
  output: answer({
    conversation: text(),
    skills: list(skillView),
    active: list(open<Skill>({ name: text() })),
    issues: list(text()),
  }),
  async run(input, context) {
    const conversation = conversationOf(input, context);
    const { skills, active, issues } =
      context.skills === undefined || context.skills === null
        ? { ...NONE, active: (await conversation.settings()).skills }
        : await listOf(workOf(conversation, context));
    return { conversation: conversation.id, active, ...listView({ skills, issues }) };
  },
});

export const activateSkill = operation({
  ...act,
  ...change,
  summary: "Activate a skill: add its instructions to every prompt",
  http: "POST /api/conversations/{conversation}/skills/{skill}/activation",
  async run({ skill, ...input }, context) {
    const work = workOf(conversationOf(input, context), context, keyed("activateSkill", context));
    return { skill, changed: (await activate(work, skill)).changed };
  },
});

export const deactivateSkill = operation({
  ...act,
  ...change,
  summary: "Deactivate a skill: remove its instructions",
  http: "POST /api/conversations/{conversation}/skills/{skill}/deactivation",
  async run({ skill, ...input }, context) {
    const work = workOf(conversationOf(input, context), context, keyed("deactivateSkill", context));
    return { skill, changed: (await deactivate(work, skill)).changed };
  },
});

export const listServedSkills = operation({
  ...read,
  summary: "List the skills of the server's folder",
  http: "GET /api/skills",
  cli: "skills ls",
  input: {},
  output: answer({ skills: list(skillView), issues: list(text()) }),
  run: async (_input, context) => listView(await skillsIn(context)),
});

export const getSkill = operation({
  ...read,
  summary: "Show a skill and its instructions",
  http: "GET /api/skills/{skill}",
  cli: "skills show skill",
  input: { skill: skillName, conversation: optional(idField) },
  output: answer({
    ...skillFields,
    text: text({ max: 100_000 }),
    files: list(text()),
    moreFiles: flag("more exist than are listed"),
  }),
  async run({ skill: name, conversation }, context) {
    const { skills } = await skillsIn(context, conversation);
    const skill = skills.find((one) => one.name === name);
    if (skill === undefined || context.skills === undefined || context.skills === null)
      throw new LogError("entry_not_found", `Skill "${name}" not found`, { skill: name });
    const { files, isCut } = await context.skills.resources(skill);
    return { ...skillViewOf(skill), text: skill.text, files, moreFiles: isCut };
  },
});

export const listSkillUses = operation({
  ...read,
  summary:
    "List which conversations activated which skills, the last changed first; `limit` counts conversations",
  http: "GET /api/skill-uses",
  input: { limit: optional(pageLimit), cursor: optional(cursor) },
  output: answer({
    uses: list(
      open<SkillUse>({
        conversation: text(),
        title: nullable(text()),
        skills: list(
          open<UsedSkill>({
            name: text(),
            source: nullable(text()),
            digest: nullable(text()),
            active: flag(),
            entry: text(),
            time: text(),
          }),
        ),
      }),
    ),
    cursor: nextCursor,
  }),
  async run({ limit = LOOKED_AT, cursor: from }, { holdfast }) {
    const page = await holdfast.listPage({ limit, ...(from === undefined ? {} : { cursor: from }) });
    const uses: SkillUse[] = [];
    for (const { conversation, title } of page.conversations)
      try {
        const skills = await usedSkills(holdfast.handle(conversation));
        if (skills.length > 0) uses.push({ conversation, title, skills });
      } catch (error) {
        // What cannot be read is left out: its own pages say so.
        if (!isLogError(error) || (error.group !== "damaged" && error.group !== "missing")) throw error;
      }
    return { uses, cursor: page.cursor };
  },
});

async function usedSkills(conversation: Conversation): Promise<readonly UsedSkill[]> {
  const activated = new Map<string, { readonly skill: Skill; readonly by: EntryOf<"skill_change"> }>();
  let before = new Set<string>();
  for (const by of await conversation.facts(["skill_change"])) {
    if (by.type !== "skill_change") continue;
    // Each states the whole list: what stood there before was activated before.
    for (const skill of by.skills) if (!before.has(skill.name)) activated.set(skill.name, { skill, by });
    before = new Set(by.skills.map(({ name }) => name));
  }
  if (activated.size === 0) return [];
  const now = new Set((await conversation.settings()).skills.map(({ name }) => name));
  return [...activated.values()].map(({ skill, by }) => ({
    name: skill.name,
    source: skill.source ?? null,
    digest: skill.digest ?? null,
    active: now.has(skill.name),
    entry: by.id,
    time: by.time,
  }));
}

async function skillsIn(context: OperationContext, conversation?: string): Promise<SkillList> {
  const { skills = null, folder = null, holdfast } = context;
  if (skills === null) return NONE;
  if (conversation === undefined) return skills.list(folder);
  return listOf(workOf(await holdfast.conversation(conversation), context));
}

function listView({ skills, issues }: SkillList): {
  readonly skills: readonly SkillView[];
  readonly issues: readonly string[];
} {
  return { skills: skills.map(skillViewOf), issues: issues.map(({ problem }) => problem) };
}

function skillViewOf({ name, description, source, digest, forModel }: SkillSource): SkillView {
  return { name, description, source, digest, forModel };
}

function workOf(
  conversation: Conversation,
  { skills = null }: OperationContext,
  once: { readonly key?: string } = {},
): SkillWork {
  return {
    conversation,
    skills,
    note: async (note) => {
      const bodies = typeof note === "function" ? await note() : note;
      if (bodies.length > 0) await afterDeadOwner(conversation, () => conversation.append(bodies, once));
    },
  };
}
