import type { Conversation } from "#conversation/conversation";
import type { Skill } from "#log/entry";
import { LogError } from "#log/errors";
import { cwdOf } from "#log/projections/settings";
import type { Note } from "#turn/one-at-a-time";
import { recordOf, withoutSkill, type SkillList, type Skills } from "./skills.ts";
import { skillChange } from "./skill-tools.ts";
import type { Agent } from "#agent/agent";

/** A conversation, the skills of its host, and how something is written beside the turns. */
export interface SkillWork {
  readonly conversation: Conversation;
  readonly skills: Skills | null;
  note(note: Note): Promise<void>;
}

export async function activateSkill(
  work: SkillWork,
  name: string,
): Promise<{ readonly skill: Skill; readonly changed: boolean }> {
  const skills = requireSkills(work);
  const { active, cwd } = await read(work);
  const skill = recordOf(await skills.get(name, cwd));
  const changed = (await skills.activate(active, name, cwd)) !== active;
  // Uses the skills at the time of writing: a turn may have ended in between.
  if (changed) await work.note(() => bodies(work, (now) => skills.activate(now, name, cwd)));
  return { skill, changed };
}

export async function deactivateSkill(work: SkillWork, name: string): Promise<{ readonly changed: boolean }> {
  const { active } = await read(work);
  const changed = withoutSkill(active, name) !== active;
  if (changed) await work.note(() => bodies(work, async (now) => withoutSkill(now, name)));
  return { changed };
}

export async function listSkills(
  work: SkillWork,
): Promise<SkillList & { readonly active: readonly Skill[] }> {
  const { active, cwd } = await read(work);
  return { ...(await requireSkills(work).list(cwd)), active };
}

function requireSkills({ skills }: SkillWork): Skills {
  if (skills !== null) return skills;
  const why = "This agent has no skills. Use `new Agent(holdfast, { skills: new Skills() })`.";
  throw new LogError("invalid_request", why);
}

async function read({
  conversation,
}: SkillWork): Promise<{ readonly active: readonly Skill[]; readonly cwd: string | null }> {
  const { skills, config } = await conversation.settings();
  return { active: skills, cwd: cwdOf(config, (await conversation.head()).cwd) };
}

async function bodies(
  { conversation }: SkillWork,
  change: (active: readonly Skill[]) => Promise<readonly Skill[]>,
): Promise<readonly ReturnType<typeof skillChange>[]> {
  const { skills } = await conversation.settings();
  const next = await change(skills);
  return next === skills ? [] : [skillChange(next)];
}

/** What may follow `/skill`. */
export const SKILL_ORDER_HINT = "[NAME [off]]";

/** Runs a `/skill` command (`NAME`, `NAME off` or nothing) and returns text for the user. */
export async function runSkillOrder(agent: Agent, to: Conversation | string, rest: string): Promise<string> {
  const [name = "", off, ...more] = rest.trim().split(/\s+/);
  if (name === "") return listText(await agent.listSkills(to));
  if (more.length > 0 || (off !== undefined && off !== "off"))
    throw new LogError("invalid_request", "Use `/skill NAME` or `/skill NAME off`");
  if (off === "off") {
    const { changed } = await agent.deactivateSkill(to, name);
    return changed ? `Skill ${name} is no longer active.` : `Skill ${name} is not active.`;
  }
  const { skill, changed } = await agent.activateSkill(to, name);
  return changed
    ? `Skill ${name} (${skill.source}) is active from the next message.`
    : `Skill ${name} is already active.`;
}

function listText({ active, skills, issues }: Awaited<ReturnType<Agent["listSkills"]>>): string {
  const names = new Set(active.map(({ name }) => name));
  const lost = active.filter(({ name }) => !skills.some((one) => one.name === name));
  const rows = [
    ...skills.map(({ name, description }) => `${names.has(name) ? "*" : " "} ${name}: ${description}`),
    ...lost.map(({ name }) => `* ${name} (not available)`),
    ...issues.map(({ message }) => `! ${message}`),
  ];
  const first =
    rows.length === 0
      ? "No skills found."
      : "Skills (* active). Use /skill NAME to activate one, and /skill NAME off to deactivate it.";
  return [first, ...rows].join("\n");
}
