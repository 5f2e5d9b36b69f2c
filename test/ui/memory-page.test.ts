/** The rules of the memory page that need no browser. */
import { expect, test } from "vitest";
import type { MemoryView } from "#operations/memory";
import type { SkillUse, SkillView } from "#operations/skills";
import { fieldsOf, isSame, NO_FIELDS, saveInput } from "../../ui/src/pages/memory/memory-input.ts";
import { logOf, scopeChoices, scopeIn, scopeText } from "../../ui/src/pages/memory/asked-scope.ts";
import { otherThan, skillRows } from "../../ui/src/pages/memory/skill-rows.ts";

const memory = {
  key: "tone",
  entry: "e1",
  title: "Tone",
  content: "Be brief",
  kind: "preference",
  tags: ["a", "b"],
  keywords: ["style"],
} as unknown as MemoryView;

test("the address names a scope as it is, whatever stands in the id of a project", () => {
  for (const project of ["git:example.org/app", "project:project:x", "user", " ?&# ", "路径"])
    expect(scopeIn(scopeText({ scope: "project", project }))).toEqual({ scope: "project", project });
  for (const text of [null, "", "user", "project:"]) expect(scopeIn(text)).toEqual({ scope: "user" });
  expect(scopeText({ scope: "user" })).toBeNull();
});

test("the user's scope is chosen from first, and a project of which nothing is known yet can be asked for", () => {
  const of = (project: string | null, log: string) =>
    ({ scope: project === null ? "user" : "project", project, log, headSeq: 3, updatedAt: "" }) as const;
  const scopes = [of("b", "memory.project.b"), of(null, "memory.user"), of("a", "memory.project.a")];
  const names = scopeChoices(scopes, { scope: "project", project: "new" }).map(([, name]) => name);
  expect(names).toEqual(["The user, in every conversation", "a", "b", "new"]);
  expect(logOf(scopes, { scope: "user" })?.log).toBe("memory.user");
  expect(logOf(scopes, { scope: "project", project: "new" })).toBeNull();
});

test("an edit names what it takes the place of, keeps what has no field, and says what it changes", () => {
  const fields = fieldsOf(memory);
  expect(isSame(fields, fieldsOf(memory))).toBe(true);
  expect(isSame(fields, { ...fields, tags: "a" })).toBe(false);
  expect(saveInput({ ...fields, tags: " a,, c " }, memory, memory.entry)).toEqual({
    memory: "tone",
    title: "Tone",
    content: "Be brief",
    kind: "preference",
    tags: ["a", "c"],
    keywords: ["style"],
    replaces: "e1",
  });
  expect(saveInput({ ...NO_FIELDS, content: "New", kind: "of another program" }, null, null)).toEqual({
    content: "New",
    tags: [],
    replaces: null,
  });
});

test("skills are those that lie there, then those that only conversations know of, each with who used it", () => {
  const skill = (name: string): SkillView => ({
    name,
    description: "",
    source: `here/${name}`,
    digest: "d",
    forModel: true,
  });
  const used = (conversation: string, names: readonly string[]): SkillUse => ({
    conversation,
    title: null,
    skills: names.map((name) => ({
      name,
      source: `here/${name}`,
      digest: "d",
      active: true,
      entry: "e",
      time: "",
    })),
  });
  const rows = skillRows([skill("b"), skill("a")], [used("c1", ["b", "gone"]), used("c2", ["b"])]);
  expect(rows.map(({ name, skill: there, uses }) => [name, there !== null, uses.length])).toEqual([
    ["a", true, 0],
    ["b", true, 2],
    ["gone", false, 1],
  ]);
  const [use] = rows[1]?.uses ?? [];
  if (use === undefined) throw new Error("It was used");
  expect(otherThan(use, skill("b"))).toBeNull();
  expect(otherThan({ ...use, digest: "e" }, skill("b"))).toBe("changed");
  expect(otherThan({ ...use, source: "there/b" }, skill("b"))).toBe("elsewhere");
  expect(otherThan({ ...use, source: null, digest: null }, skill("b"))).toBeNull();
});
