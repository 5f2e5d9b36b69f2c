import { LogError } from "#log/errors";
import type { FoundSkill } from "#agent/skills/skill-places";
import { answer, type Call, type Command, remark } from "#edges/cli/command";
import { ownSkills } from "#edges/cli/skills/own-skills";
import { safeLine, safeText } from "#edges/cli/terminal/terminal";

export const skillsCommand: Command = {
  name: "skills",
  summary: "Lists the skills that conversations in this folder may activate, or shows one",
  usage: ["[ls]", "show NAME"],
  about: `A skill is a folder with a SKILL.md, in the open format of Agent Skills. It is looked for in
.agents/skills and .claude/skills of the project, which is the nearest repository upwards, then
in the same folders of your home; of two with one name the first is taken. What cannot be taken
is told with the reason. In a chat, /skill NAME activates one, and a model may do so by itself.`,
  examples: ["holdfast skills", "holdfast skills show NAME", "holdfast skills --json"],
  options: {},
  arity: [0, 2],
  async run(call) {
    const [verb = "ls", name, ...more] = call.args;
    if (verb === "ls" && name === undefined) return list(call);
    if (verb === "show" && name !== undefined && more.length === 0) return show(call, name);
    throw new LogError("invalid_request", "skills takes ls, or show and a name");
  },
};

async function list(call: Call): Promise<void> {
  const { skills, issues } = await ownSkills(call.io.env).list(process.cwd());
  if (!call.json) for (const { message } of issues) await remark(call, safeLine(message));
  if (skills.length === 0 && !call.json) return remark(call, "There are no skills here.");
  const told = skills.map((skill) => shortOf(skill));
  return answer(call, { skills: told, issues }, () =>
    told
      .map(({ name, source, description, forModel }) => {
        const who = forModel ? "" : "  (only you may activate it)";
        return `${name}  ${safeLine(source)}${who}\n  ${safeLine(description)}`;
      })
      .join("\n"),
  );
}

async function show(call: Call, name: string): Promise<void> {
  const skills = ownSkills(call.io.env);
  const skill = await skills.get(name, process.cwd());
  const { files, isCut } = await skills.resources(skill);
  const { text } = skill;
  const told = { ...shortOf(skill), text, files, filesCut: isCut };
  return answer(call, told, () => {
    const listed = [...files, ...(isCut ? ["…"] : [])].map((file) => `\n  ${safeLine(file)}`).join("");
    const head = [name, safeLine(skill.description), `${safeLine(skill.source)}  sha256:${skill.digest}`];
    return `${head.join("\n")}\n\n${safeText(text)}${listed === "" ? "" : `\n\nFiles:${listed}`}`;
  });
}

function shortOf(
  skill: FoundSkill,
): Pick<FoundSkill, "name" | "description" | "source" | "folder" | "digest" | "forModel"> {
  const { name, description, source, folder, digest, forModel } = skill;
  return { name, description, source, folder, digest, forModel };
}
