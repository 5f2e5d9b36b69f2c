import type { SkillList, Skills } from "#agent/skills/skills";
import { getSkill, listServedSkills } from "#operations/skills";
import type { Call, Command } from "#edges/cli/command";
import { commandGroup } from "#edges/cli/command";
import { operationCommand } from "#edges/cli/operation-command";
import { ownSkills } from "#edges/cli/chat/own-skills";
import { safeLine, safeText } from "#edges/cli/terminal/terminal";

const VERB = {
  context: (call: Call): { readonly skills: Skills; readonly folder: string } => ({
    skills: ownSkills(call.io.env),
    folder: process.cwd(),
  }),
};

/** The same with where each lies, which only this machine is told. */
function listHere(call: Call): Promise<SkillList> {
  const { skills, folder } = VERB.context(call);
  return skills.list(folder);
}

const ls = operationCommand(listServedSkills, {
  ...VERB,
  about: `A skill is a folder with a SKILL.md, in the open format of Agent Skills. Holdfast looks in
.agents/skills and .claude/skills of the repository, then in the same folders of your home; the
first skill of a name counts. Skills that can't be loaded are listed with the reason. In a chat,
/skill NAME activates one; a model may activate one too.`,
  examples: ["holdfast skills", "holdfast skills --json"],
  async json(_output, _input, call) {
    const { skills, issues } = await listHere(call);
    return {
      skills: skills.map(({ name, description, source, folder, digest, forModel }) => {
        return { name, description, source, folder, digest, forModel };
      }),
      issues,
    };
  },
  text: ({ skills }) =>
    skills
      .map(({ name, source, description, forModel }) => {
        const note = forModel ? "" : "  (only you may activate it)";
        return `${name}  ${safeLine(source)}${note}\n  ${safeLine(description)}`;
      })
      .join("\n"),
  async remarks({ skills }, _input, call) {
    const { issues } = await listHere(call);
    const messages = issues.map(({ message }) => safeLine(message));
    return skills.length > 0 ? messages : [...messages, "No skills found."];
  },
});

const show = operationCommand(getSkill, {
  ...VERB,
  forms: ["NAME"],
  examples: ["holdfast skills show NAME"],
  async json({ moreFiles }, { skill }, call) {
    const { folder } = (await listHere(call)).skills.find(({ name }) => name === skill) ?? {};
    return { folder, filesCut: moreFiles };
  },
  text: ({ name, description, source, digest, text, files, moreFiles }) => {
    const rows = [...files, ...(moreFiles ? ["…"] : [])].map((file) => `\n  ${safeLine(file)}`).join("");
    const head = [name, safeLine(description), `${safeLine(source)}  sha256:${digest}`];
    return `${head.join("\n")}\n\n${safeText(text)}${rows === "" ? "" : `\n\nFiles:${rows}`}`;
  },
});

export const skillsCommand: Command = commandGroup(
  {
    name: "skills",
    summary: "List the skills of this folder, or show one",
    about: ls.about,
    examples: ["holdfast skills", "holdfast skills show NAME", "holdfast skills --json"],
  },
  [ls, show],
);
