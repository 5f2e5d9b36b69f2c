import { LogError } from "#log/errors";
import { type FrontmatterValue, readFrontmatter } from "./frontmatter.ts";

/** What a SKILL.md says, by the open format of Agent Skills. */
export interface SkillFile {
  readonly name: string;
  /** What it does and when it is of use, on one line. */
  readonly description: string;
  /** Whether a model may activate it; else a person has to. */
  readonly forModel: boolean;
  /** The instructions themselves. */
  readonly text: string;
}

const NAME_CHARS_MAX = 64;
const DESCRIPTION_CHARS_MAX = 1_024;

function isSkillName(name: string): boolean {
  return name.length <= NAME_CHARS_MAX && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}

/** Throws what is wrong with it, for people. Fields of other programs are left alone. */
export function parseSkill(text: string, folder: string): SkillFile {
  const { fields, body } = readFrontmatter(text);
  const name = textOf(fields, "name");
  if (!isSkillName(name))
    throw wrong(
      `its name ${JSON.stringify(name.slice(0, 100))} is none: a-z, 0-9 and single hyphens between them, ${NAME_CHARS_MAX} at most`,
    );
  if (name !== folder)
    throw wrong(`its name is ${name} and its folder ${JSON.stringify(folder)}: they have to be the same`);
  const description = textOf(fields, "description").replaceAll(/\s+/g, " ").trim();
  if (description === "") throw wrong("its description is empty");
  if (description.length > DESCRIPTION_CHARS_MAX)
    throw wrong(
      `its description has ${description.length} characters; ${DESCRIPTION_CHARS_MAX} are the most`,
    );
  const hidden = fields.get("disable-model-invocation") ?? false;
  if (typeof hidden !== "boolean") throw wrong("disable-model-invocation has to be true or false");
  return { name, description: description.toWellFormed(), forModel: !hidden, text: body.trim() };
}

function textOf(fields: ReadonlyMap<string, FrontmatterValue>, name: string): string {
  const value = fields.get(name) ?? null;
  if (value === null) throw wrong(`it has no ${name}`);
  if (typeof value !== "string") throw wrong(`its ${name} is no text; put it in quotes`);
  return value;
}

function wrong(why: string): LogError {
  return new LogError("invalid_request", why);
}
