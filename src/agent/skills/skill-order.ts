import type { Agent } from "#agent/agent";
import type { Conversation } from "#conversation/conversation";
import { LogError } from "#log/errors";

/** What may follow `/skill`. */
export const SKILL_ORDER_HINT = "[NAME [off]]";

/** Carries out what a person says of skills, `NAME`, `NAME off` or nothing, and says in words what is so now. */
export async function runSkillOrder(agent: Agent, to: Conversation | string, rest: string): Promise<string> {
  const [name = "", off, ...more] = rest.trim().split(/\s+/);
  if (name === "") return listText(await agent.listSkills(to));
  if (more.length > 0 || (off !== undefined && off !== "off"))
    throw new LogError("invalid_request", "/skill takes a name, and `off` behind it to deactivate it");
  if (off === "off") {
    const { changed } = await agent.deactivateSkill(to, name);
    return changed
      ? `The skill ${name} is not active any more.`
      : `The skill ${name} is not active; nothing was changed.`;
  }
  const { skill, changed } = await agent.activateSkill(to, name);
  return changed
    ? `The skill ${name} (${skill.source}) is active from the next message on.`
    : `The skill ${name} is active already; nothing was changed.`;
}

function listText({ active, skills, issues }: Awaited<ReturnType<Agent["listSkills"]>>): string {
  const names = new Set(active.map(({ name }) => name));
  const lost = active.filter(({ name }) => !skills.some((one) => one.name === name));
  const rows = [
    ...skills.map(({ name, description }) => `${names.has(name) ? "*" : " "} ${name}: ${description}`),
    ...lost.map(({ name }) => `* ${name} (not here)`),
    ...issues.map(({ message }) => `! ${message}`),
  ];
  const first =
    rows.length === 0
      ? "There are no skills here."
      : "Skills; * is active. /skill NAME activates one, /skill NAME off ends that.";
  return [first, ...rows].join("\n");
}
