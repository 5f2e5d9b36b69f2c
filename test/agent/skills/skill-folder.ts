import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface SkillFolders extends AsyncDisposable {
  /** A repository with a folder to work in. */
  readonly project: string;
  /** The person's own place. */
  readonly user: string;
  /** Writes a skill, and whatever else belongs into its folder. */
  skill(place: string, name: string, more?: SkillMore): Promise<string>;
}

interface SkillMore {
  readonly text?: string;
  readonly description?: string;
  readonly front?: string;
  readonly files?: { readonly [path: string]: string };
}

/** Real folders with skills, gone when the test is over. */
export async function skillFolders(): Promise<SkillFolders> {
  const top = await realpath(await mkdtemp(join(tmpdir(), "skills-")));
  const [project, user] = [join(top, "project"), join(top, "home/.agents/skills")];
  await mkdir(join(project, ".git"), { recursive: true });
  await writeFile(join(project, ".git/HEAD"), "ref: refs/heads/main\n");
  await mkdir(user, { recursive: true });
  return {
    project,
    user,
    skill: async (
      place,
      name,
      { text = `How to ${name}.`, description = `Shows ${name}.`, front = "", files = {} } = {},
    ) => {
      const folder = join(place, name);
      const whole = `---\nname: ${name}\ndescription: ${description}\n${front}---\n${text}\n`;
      for (const [path, content] of Object.entries({ "SKILL.md": whole, ...files })) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), content);
      }
      return folder;
    },
    [Symbol.asyncDispose]: () => rm(top, { recursive: true, force: true }),
  };
}
