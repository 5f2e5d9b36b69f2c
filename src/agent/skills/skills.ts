import { realpath, opendir } from "node:fs/promises";
import { relative, resolve, join } from "node:path";
import type { Skill } from "#log/entry";
import { LogError } from "#log/errors";
import { projectRoot } from "#agent/prompt/instructions";
import type { ListedSkill, PromptSkill } from "#agent/prompt/system-prompt";
import { isWithin } from "#agent/tools/folder-path";
import {
  checkPlaces,
  type SkillSource,
  SkillFinder,
  type SkillIssue,
  type SkillPlace,
} from "./skill-places.ts";

const FOLDER = ".agents/skills"; // of a project, shared by agents

export interface SkillsOptions {
  /**
   * Where skills lie, what comes first wins. A relative folder is that of the project, from its root on; a text is a
   * folder and its own name. Unless given, `.agents/skills` of the project.
   */
  readonly places?: readonly (string | SkillPlace)[];
}

export interface SkillList {
  /** One for each name, as it would be activated. */
  readonly skills: readonly SkillSource[];
  /** Skills that cannot be used. */
  readonly issues: readonly SkillIssue[];
}

const LISTED_CHARS_MAX = 32_768; // of the names and descriptions that every request has

/** Skills in folders, as they are now: nothing of them is kept but in the log which ones are active. */
export class Skills {
  readonly #places: readonly SkillPlace[];
  readonly #finder: SkillFinder = new SkillFinder();

  constructor({ places = [FOLDER] }: SkillsOptions = {}) {
    this.#places = checkPlaces(places);
  }

  /** `cwd`: the conversation's folder; null: only skills outside of projects. */
  async list(cwd: string | null): Promise<SkillList> {
    const { skills: found, issues } = await this.#find(cwd);
    return { skills: found.filter(({ hiddenBy }) => hiddenBy === null), issues };
  }

  /** The skill of this name; one that is not there is the caller's mistake. */
  async get(name: string, cwd: string | null): Promise<SkillSource> {
    const { skills, issues } = await this.list(cwd);
    const skill = skills.find((one) => one.name === name);
    if (skill !== undefined) return skill;
    const about = issues.find(({ path }) => path.split("/").includes(name));
    const names = skills.map((one) => one.name).join(", ");
    const why = about === undefined ? "" : ` (${about.message})`;
    throw new LogError(
      "invalid_request",
      `Skill ${JSON.stringify(name.slice(0, 100))} not found${why}. Available skills: ${names === "" ? "(empty)" : names}.`,
      { skill: name.slice(0, 100) },
    );
  }

  /** The active skills with this one, which has to be here. The same list where it is active as it is. */
  async activate(active: readonly Skill[], name: string, cwd: string | null): Promise<readonly Skill[]> {
    const next = withSkill(active, recordOf(await this.get(name, cwd)));
    const { skills: found } = await this.#find(cwd);
    const match = matchSkills(next, found).find((one) => one.name === name);
    if (match?.source === null && next !== active)
      throw new LogError("invalid_request", `${roomText(name)}. Deactivate another skill first.`, {
        skill: name,
      });
    return next;
  }

  /** Finds the active skills in the host's folders and reports changes. */
  async match(active: readonly Skill[], cwd: string | null): Promise<readonly SkillMatch[]> {
    return active.length === 0 ? [] : matchSkills(active, (await this.#find(cwd)).skills);
  }

  /** What a model is told: the text of the active ones, and by name and description those it may activate. */
  async forPrompt(
    active: readonly Skill[],
    cwd: string | null,
  ): Promise<{ readonly skills: readonly PromptSkill[]; readonly offers: readonly ListedSkill[] }> {
    const { skills: found } = await this.#find(cwd);
    const skills: PromptSkill[] = [];
    for (const { source: one } of matchSkills(active, found)) {
      if (one === null) continue;
      const { files, isCut } = await this.resources(one);
      const folder = folderFor(one.folder, cwd);
      const more = files.length === 0 ? {} : { folder, files: isCut ? [...files, "…"] : files };
      skills.push({ name: one.name, text: one.text, ...more });
    }
    const names = new Set(active.map(({ name }) => name));
    let room = LISTED_CHARS_MAX;
    const offers = found.filter(({ name, description, hiddenBy, forModel }) => {
      if (hiddenBy !== null || !forModel || names.has(name)) return false;
      room -= name.length + description.length;
      return room >= 0;
    });
    return { skills, offers: offers.map(({ name, description }) => ({ name, description })) };
  }

  /** The files beside a skill's text, from its folder on. */
  resources({ folder }: SkillSource): Promise<SkillResources> {
    return listResources(folder);
  }

  async #find(cwd: string | null): ReturnType<SkillFinder["find"]> {
    const folder = cwd === null ? null : await realpath(cwd).catch(() => null);
    return this.#finder.find(this.#places, folder === null ? null : await projectRoot(folder));
  }
}

/** As the tools for files take it: from the conversation's folder on where it lies in it. */
function folderFor(folder: string, cwd: string | null): string {
  if (cwd === null) return folder;
  const from = resolve(cwd);
  return isWithin(from, folder) ? relative(from, folder) : folder;
}

const ENTRIES_MAX = 1_000; // looked at, for each prompt
const FILES_MAX = 100; // told
const DEPTH_MAX = 4;
const SKIPPED = new Set(["node_modules", "SKILL.md", "__pycache__"]);

interface SkillResources {
  /** Paths from the skill's folder on, in order. */
  readonly files: readonly string[];
  /** There are more than are told. */
  readonly isCut: boolean;
}

/** Lists the files beside a SKILL.md, without links and hidden files. */
async function listResources(folder: string): Promise<SkillResources> {
  const files: string[] = [];
  let entries = 0;
  const walk = async (under: string, depth: number): Promise<void> => {
    const folders: string[] = [];
    try {
      for await (const entry of await opendir(join(folder, under))) {
        if (++entries > ENTRIES_MAX) break;
        if (entry.name.startsWith(".") || SKIPPED.has(entry.name) || !isPlain(entry.name)) continue;
        const path = under === "" ? entry.name : `${under}/${entry.name}`;
        if (entry.isFile()) files.push(path);
        else if (entry.isDirectory() && depth < DEPTH_MAX) folders.push(path);
      }
    } catch {
      return; // what cannot be looked into has nothing to tell
    }
    for (const path of folders.toSorted()) if (entries <= ENTRIES_MAX) await walk(path, depth + 1);
  };
  await walk("", 1);
  const sorted = files.toSorted();
  return { files: sorted.slice(0, FILES_MAX), isCut: entries > ENTRIES_MAX || sorted.length > FILES_MAX };
}

/** Whether a name fits on one line of a list. */
function isPlain(name: string): boolean {
  return !/\p{C}|\p{Zl}|\p{Zp}/u.test(name) && name.isWellFormed();
}

const ACTIVE_CHARS_MAX = 262_144; // every request has all of them

/** The active skills with one more: in its place where it was active, else as the last. The same list: nothing changes. */
export function withSkill(active: readonly Skill[], skill: Skill): readonly Skill[] {
  const before = active.find(({ name }) => name === skill.name);
  if (before === undefined) return [...active, skill];
  if (before.source === skill.source && before.digest === skill.digest) return active;
  return active.map((one) => (one.name === skill.name ? skill : one));
}

/** The active skills without one. */
export function withoutSkill(active: readonly Skill[], name: string): readonly Skill[] {
  return active.some((one) => one.name === name) ? active.filter((one) => one.name !== name) : active;
}

/** What the log keeps of an activation. */
export function recordOf({ name, source, digest }: SkillSource): Skill {
  return { name, source, digest };
}

/** An active skill, and the skill of that name in the host's folders. */
interface SkillMatch {
  readonly name: string;
  /** Null: it is not sent to the model. */
  readonly source: SkillSource | null;
  /** Why it differs from the skill that was activated. */
  readonly problem: string | null;
}

function roomText(name: string): string {
  return `The skill ${name} does not fit: the text of all active skills is limited to ${ACTIVE_CHARS_MAX} characters`;
}

/**
 * The active skills in their order, each with its source. A skill from another folder does not match by name alone:
 * a folder that someone else controls must not replace it.
 */
export function matchSkills(
  active: readonly Skill[],
  available: readonly SkillSource[],
): readonly SkillMatch[] {
  let room = ACTIVE_CHARS_MAX;
  return active.map(({ name, source, digest }) => {
    const candidates = available.filter((one) => one.name === name);
    const here = candidates.find((one) => source === undefined || one.source === source) ?? null;
    if (here === null) {
      const other = candidates[0]?.source;
      const hint = other === undefined ? "" : ` Activate it again to use the skill at ${other} instead.`;
      const where = source === undefined ? "" : ` (${source})`;
      const problem = `The active skill ${name}${where} is not available. The model gets it again when it is back.${hint}`;
      return { name, source: null, problem };
    }
    if (here.text.length > room) return { name, source: null, problem: `${roomText(name)}.` };
    room -= here.text.length;
    const isChanged = digest !== undefined && digest !== here.digest;
    const changed = `The skill ${name} (${here.source}) changed after it was activated. The model gets the current text. Activate it again to record that.`;
    return { name, source: here, problem: isChanged ? changed : null };
  });
}
