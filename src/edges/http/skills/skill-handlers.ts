import { activateSkill, deactivateSkill, listSkills, type SkillWork } from "#agent/skills/change-skills";
import type { FoundSkill } from "#agent/skills/skill-places";
import type { SkillList } from "#agent/skills/skills";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { type HandlersOf, keyed, type ServerParts } from "#edges/http/handlers/asked";
import { conversationOf } from "#edges/http/handlers/conversation-of";
import { afterDeadOwner } from "#operations/acts";
import { LogError } from "#log/errors";
import type { SkillApi, SkillView } from "./skill-api.ts";
import { readSkillUses } from "./skill-uses.ts";

const NONE: SkillList = { skills: [], issues: [] };

export const SKILL_HANDLERS: HandlersOf<SkillApi> = {
  async listSkills(asked) {
    const conversation = conversationOf(asked);
    const listed =
      asked.server.skills === null
        ? { skills: [], issues: [], active: (await conversation.settings()).skills }
        : await listSkills(workOf(conversation, asked.server));
    const { skills, active, issues } = listed;
    return {
      conversation: conversation.id,
      active,
      skills: skills.map(viewOf),
      // Where they lie is the server's affair.
      issues: issues.map(({ problem }) => problem),
    };
  },

  async activateSkill(asked) {
    const { skill } = asked.params;
    const work = workOf(conversationOf(asked), asked.server, keyed("activateSkill", asked.key));
    return { skill, changed: (await activateSkill(work, skill)).changed };
  },

  async deactivateSkill(asked) {
    const { skill } = asked.params;
    const work = workOf(conversationOf(asked), asked.server, keyed("deactivateSkill", asked.key));
    return { skill, changed: (await deactivateSkill(work, skill)).changed };
  },

  async listServedSkills({ server, holdfast }) {
    const { skills, issues } = await found(server, holdfast, undefined);
    // Where they lie is the server's affair.
    return { skills: skills.map(viewOf), issues: issues.map(({ problem }) => problem) };
  },

  async getSkill({ server, holdfast, params, query }) {
    const { skills } = await found(server, holdfast, query.conversation);
    const skill = skills.find(({ name }) => name === params.skill);
    if (skill === undefined || server.skills === null)
      throw new LogError("entry_not_found", `There is no skill ${params.skill} here`, {
        skill: params.skill,
      });
    const { files, isCut } = await server.skills.resources(skill);
    return { ...viewOf(skill), text: skill.text, files, moreFiles: isCut };
  },

  listSkillUses: ({ holdfast, query }) => readSkillUses(holdfast, query),
};

async function found(
  server: ServerParts,
  holdfast: Holdfast,
  conversation: string | undefined,
): Promise<SkillList> {
  if (server.skills === null) return NONE;
  if (conversation === undefined) return server.skills.list(server.cwd);
  return listSkills(workOf(await holdfast.conversation(conversation), server));
}

function viewOf({ name, description, source, digest, forModel }: FoundSkill): SkillView {
  return { name, description, source, digest, forModel };
}

function workOf(
  conversation: Conversation,
  { skills }: ServerParts,
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
