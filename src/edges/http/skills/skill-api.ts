import type { FoundSkill } from "#agent/skills/skill-places";
import type { RoutesOf } from "#edges/http/routes/route";
import {
  cursor,
  id,
  nextCursor,
  ofConversation,
  type OfConversation,
  pageLimit,
} from "#edges/http/routes/shared-schemas";
import {
  answer,
  flag,
  list,
  nullable,
  object,
  open,
  optional,
  type Schema,
  text,
} from "#edges/http/routes/value-schema";
import type { Skill } from "#log/entry";

/** A skill that may be activated; where it lies is the server's affair. */
export type SkillView = Pick<FoundSkill, "name" | "description" | "source" | "digest" | "forModel">;

interface SkillsView extends OfConversation {
  readonly skills: readonly SkillView[];
  readonly active: readonly Skill[];
  readonly issues: readonly string[];
}

interface OfSkill extends OfConversation {
  readonly skill: string;
}

/** A skill with its instructions. */
interface SkillText extends SkillView {
  readonly text: string;
  /** What lies beside it, from its folder on. */
  readonly files: readonly string[];
  readonly moreFiles: boolean;
}

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
export interface SkillUse extends OfConversation {
  readonly title: string | null;
  readonly skills: readonly UsedSkill[];
}

export interface SkillApi {
  listSkills: { readonly params: OfConversation; readonly response: SkillsView };
  activateSkill: {
    readonly params: OfSkill;
    readonly body: object;
    readonly response: { readonly skill: string; readonly changed: boolean };
  };
  deactivateSkill: {
    readonly params: OfSkill;
    readonly body: object;
    readonly response: { readonly skill: string; readonly changed: boolean };
  };
  listServedSkills: {
    readonly response: { readonly skills: readonly SkillView[]; readonly issues: readonly string[] };
  };
  getSkill: {
    readonly params: { readonly skill: string };
    readonly query: { readonly conversation?: string };
    readonly response: SkillText;
  };
  listSkillUses: {
    readonly query: { readonly limit?: number; readonly cursor?: string };
    readonly response: { readonly uses: readonly SkillUse[]; readonly cursor: string | null };
  };
}

const group = "Memory and skills";

const skillMembers = {
  name: text(),
  description: text({ max: 100_000 }),
  source: text({ about: "the place and the folder in it" }),
  digest: text({ about: "of SKILL.md" }),
  forModel: flag("whether a model may activate it"),
};
const skillView: Schema<SkillView> = open<SkillView>(skillMembers);
/** The name of a skill in a path. */
const skillName: Schema<string> = text({
  min: 1,
  max: 64,
  pattern: /^[a-z0-9][a-z0-9-]*$/,
  about: "the name of a skill",
});

const changed: Schema<SkillApi["activateSkill"]["response"]> = answer<SkillApi["activateSkill"]["response"]>({
  skill: text(),
  changed: flag(),
});
const skillParams: Schema<OfSkill> = object<OfSkill>({
  ...(ofConversation.members as { readonly conversation: Schema<string> }),
  skill: skillName,
});

export const SKILL_ROUTES: RoutesOf<SkillApi> = {
  listSkills: {
    method: "GET",
    path: "/api/conversations/{conversation}/skills",
    right: "read",
    group,
    summary: "Lists the skills that may be activated in it, and those that are",
    params: ofConversation,
    response: answer<SkillsView>({
      conversation: text(),
      skills: list(skillView),
      active: list(open<Skill>({ name: text() })),
      issues: list(text()),
    }),
  },
  activateSkill: {
    method: "POST",
    path: "/api/conversations/{conversation}/skills/{skill}/activation",
    right: "write",
    writes: true,
    kept: true,
    group,
    summary: "From here on its instructions are part of every prompt",
    params: skillParams,
    body: object<object>({}),
    response: changed,
  },
  deactivateSkill: {
    method: "POST",
    path: "/api/conversations/{conversation}/skills/{skill}/deactivation",
    right: "write",
    writes: true,
    kept: true,
    group,
    summary: "Takes its instructions out again",
    params: skillParams,
    body: object<object>({}),
    response: changed,
  },
  listServedSkills: {
    method: "GET",
    path: "/api/skills",
    right: "read",
    group,
    summary: "Lists the skills that conversations about the server's folder may activate",
    response: answer<SkillApi["listServedSkills"]["response"]>({
      skills: list(skillView),
      issues: list(text()),
    }),
  },
  getSkill: {
    method: "GET",
    path: "/api/skills/{skill}",
    right: "read",
    group,
    summary:
      "Gives the instructions of a skill as they are now, of the server's folder or of a conversation's",
    params: object<{ readonly skill: string }>({ skill: skillName }),
    query: object<SkillApi["getSkill"]["query"]>({ conversation: optional(id) }),
    response: answer<SkillText>({
      ...skillMembers,
      text: text({ max: 100_000 }),
      files: list(text()),
      moreFiles: flag("there are more than are told"),
    }),
  },
  listSkillUses: {
    method: "GET",
    path: "/api/skill-uses",
    right: "read",
    group,
    summary:
      "Lists which conversations activated which skills, the last changed first; a page looks at so many conversations",
    query: object<SkillApi["listSkillUses"]["query"]>({
      limit: optional(pageLimit),
      cursor: optional(cursor),
    }),
    response: answer<SkillApi["listSkillUses"]["response"]>({
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
  },
};
