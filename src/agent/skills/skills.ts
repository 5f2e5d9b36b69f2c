import { realpath } from "node:fs/promises";
import { relative, resolve } from "node:path";
import type { Skill } from "#log/entry";
import { LogError } from "#log/errors";
import { projectRoot } from "#agent/prompt/instructions";
import type { ListedSkill, PromptSkill } from "#agent/prompt/system-prompt";
import { isWithin } from "#agent/tools/folder-path";
import { type SkillMatch, matchSkills, recordOf, withSkill } from "./active-skills.ts";
import {
  checkPlaces,
  type SkillSource,
  SkillFinder,
  type SkillIssue,
  type SkillPlace,
} from "./skill-places.ts";
import { listResources, type SkillResources } from "./skill-resources.ts";

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
  /** What is there and cannot be taken. */
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

  /** `cwd`: where the conversation is worked on; null: only what is no project's. */
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
      `There is no skill ${JSON.stringify(name.slice(0, 100))} here${why}; nothing was changed. There is ${names === "" ? "none" : names}`,
      { skill: name.slice(0, 100) },
    );
  }

  /** The active skills with this one, which has to be here. The same list where it is active as it is. */
  async activate(active: readonly Skill[], name: string, cwd: string | null): Promise<readonly Skill[]> {
    const next = withSkill(active, recordOf(await this.get(name, cwd)));
    const { skills: found } = await this.#find(cwd);
    const match = matchSkills(next, found).find((one) => one.name === name);
    if (match?.source == null && match?.problem != null && next !== active)
      throw new LogError("invalid_request", `${match.problem.split(";")[0]}; nothing was changed`);
    return next;
  }

  /** What is here of the active ones, and what is not as it was. */
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
