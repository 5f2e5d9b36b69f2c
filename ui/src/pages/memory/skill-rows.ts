import type { SkillUse, SkillView } from "#edges/http/client/views";

type UsedSkill = SkillUse["skills"][number];

/** A conversation that activated a skill. */
export interface UseOfSkill extends UsedSkill {
  readonly conversation: string;
  readonly title: string | null;
}

/** A skill by its name: as it lies there, and who used it. */
export interface SkillRow {
  readonly name: string;
  /** Null: conversations used it, and it is not in the server's folders. */
  readonly skill: SkillView | null;
  readonly uses: readonly UseOfSkill[];
}

/** Those that are there, by name, then those that only conversations know of. */
export function skillRows(skills: readonly SkillView[], uses: readonly SkillUse[]): readonly SkillRow[] {
  const used = new Map<string, UseOfSkill[]>();
  for (const { conversation, title, skills: named } of uses)
    for (const one of named) {
      const known = used.get(one.name) ?? [];
      known.push({ ...one, conversation, title });
      used.set(one.name, known);
    }
  const here = skills.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const names = new Set(here.map(({ name }) => name));
  const gone = [...used.keys()].filter((name) => !names.has(name)).toSorted();
  return [
    ...here.map((skill) => ({ name: skill.name, skill, uses: used.get(skill.name) ?? [] })),
    ...gone.map((name) => ({ name, skill: null, uses: used.get(name) ?? [] })),
  ];
}

/** How what a conversation activated stands to what lies there now; null: it is the same, or nobody can tell. */
export function otherThan(use: UseOfSkill, skill: SkillView | null): "elsewhere" | "changed" | null {
  if (skill === null) return null;
  if (use.source !== null && use.source !== skill.source) return "elsewhere";
  return use.digest !== null && use.digest !== skill.digest ? "changed" : null;
}
