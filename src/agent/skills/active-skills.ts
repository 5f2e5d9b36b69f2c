import type { Skill } from "#log/entry";
import type { SkillSource } from "./skill-places.ts";

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

/** An active skill and what is here of it. */
export interface SkillMatch {
  readonly name: string;
  /** Null: the model cannot be told of it. */
  readonly source: SkillSource | null;
  /** Why it is not as it was activated, for people. */
  readonly problem: string | null;
}

/**
 * What is here of the active skills, in their order. One that was activated from another place is not taken by its name
 * alone: a folder that somebody else fills must not speak for it.
 */
export function matchSkills(
  active: readonly Skill[],
  available: readonly SkillSource[],
): readonly SkillMatch[] {
  let room = ACTIVE_CHARS_MAX;
  return active.map(({ name, source, digest }) => {
    const candidates = available.filter((one) => one.name === name);
    const here = candidates.find((one) => source === undefined || one.source === source) ?? null;
    const stays = "it stays active, and the model is not told of it until it is back";
    if (here === null) {
      const other =
        candidates[0] === undefined
          ? ""
          : `; another one of this name is at ${candidates[0].source}, and activating it takes that`;
      const where = source === undefined ? "" : ` (${source})`;
      return {
        name,
        source: null,
        problem: `The skill ${name}${where} is active in this conversation and is not here${other}; ${stays}`,
      };
    }
    if (here.text.length > room)
      return {
        name,
        source: null,
        problem: `The skill ${name} is active in this conversation and there is no room for it: active skills have ${ACTIVE_CHARS_MAX} characters at most; ${stays}`,
      };
    room -= here.text.length;
    const isChanged = digest !== undefined && digest !== here.digest;
    const changed = `The skill ${name} (${here.source}) is not as it was when it was activated; the model is told of it as it is now, and activating it again takes note of that`;
    return { name, source: here, problem: isChanged ? changed : null };
  });
}
