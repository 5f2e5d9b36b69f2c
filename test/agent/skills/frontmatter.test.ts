import { describe, expect, test } from "vitest";
import { readFrontmatter, parseSkill } from "#agent/skills/skill-file";

const fields = (front: string): Record<string, unknown> =>
  Object.fromEntries(
    [...readFrontmatter(`---\n${front}\n---\nbody`).fields].map(([name, value]) => [
      name,
      value instanceof Map ? Object.fromEntries(value) : value,
    ]),
  );

describe("what stands in front of a SKILL.md is read as YAML means it", () => {
  test.each<[string, string, unknown]>([
    ["a plain text", "a: Reads PDFs. Use when: asked", "Reads PDFs. Use when: asked"],
    ["a plain text with a comment", "a: one # two", "one"],
    ["a sign that begins no comment", "a: C# and a#b", "C# and a#b"],
    ["a plain text over lines", "a: one\n  two\n\n  three", "one two\nthree"],
    ["a plain text below its name", "a:\n  one\n  two", "one two"],
    ["single quotes", "a: 'it''s: fine # here'", "it's: fine # here"],
    ["double quotes", String.raw`a: "tab\t, \"quote\", \u00e9, \x41"`, 'tab\t, "quote", é, A'],
    ["quotes over lines", 'a: "one\n  two" # said', "one two"],
    ["a block as it stands", "a: |\n  one\n    two\n\n  three\nb: x", "one\n  two\n\nthree\n"],
    ["a block that is folded", "a: >-\n  one\n  two\n\n  three\n", "one two\nthree"],
    ["a block without its end", "a: |-\n  one\n", "one"],
    ["an indented block", "a: |2\n    one\n   two", "  one\n two\n"],
    ["true", "a: true", true],
    ["false", "a: False", false],
    ["a quoted true", 'a: "true"', "true"],
    ["nothing", "a:", null],
    ["a number", "a: 1.0", "1.0"],
    ["a list on one line", "a: [one, \"two, 2\", 'three']", ["one", "two, 2", "three"]],
    ["an empty list", "a: []", []],
    ["a list below", "a:\n  - one\n  - 'two'", ["one", "two"]],
    ["a list that is not indented", "a:\n- one\n- two\nb: x", ["one", "two"]],
    ["members", "a:\n  author: me\n  version: '1.0'", { author: "me", version: "1.0" }],
  ])("%s", (_, front, expected) => {
    expect(fields(front)["a"]).toEqual(expected);
  });

  test("comments, empty lines, CRLF and a byte order mark change nothing; the rest is the body", () => {
    const { fields: read, body } = readFrontmatter(
      "\uFEFF---\r\n# said\r\n\r\na: b\r\n---\r\none\r\n---\r\ntwo",
    );
    expect([...read]).toEqual([["a", "b"]]);
    expect(body).toBe("one\n---\ntwo");
  });

  test.each<[string, string, number]>([
    ["no field", "just words", 2],
    ["a field that is there twice", "a: b\na: c", 3],
    ["an anchor", "a: &x b", 2],
    ["an alias", "a: *x", 2],
    ["a tag", "a: !!binary eA==", 2],
    ["a map on one line", "a: {b: c}", 2],
    ["quotes without an end", 'a: "b', 2],
    ["words behind quotes", "a: 'b' c", 2],
    ["an unknown escape", String.raw`a: "\q"`, 2],
    ["a list without an end", "a: [b, c", 2],
    ["a list in a list", "a: [b, [c]]", 2],
    ["members of members", "a:\n  b:\n    c: d", 3],
    ["a block that ends before its text does", "a: |4\n    b\n  c", 4],
  ])("%s is refused by its line", (_, front, line) => {
    expect(() => fields(front)).toThrow(expect.objectContaining({ code: "invalid_request" }));
    expect(() => fields(front)).toThrow(new RegExp(`^line ${line}: `));
  });

  test("no front, one without an end, and one of a megabyte are refused", () => {
    for (const text of ["# Title", "", "---\na: b", `---\na: ${"x".repeat(1_048_576)}\n---\n`])
      expect(() => readFrontmatter(text)).toThrow(/^line 1: /);
  });
});

describe("a skill is what the format asks for", () => {
  const skill = (front: string, folder = "pdf") => parseSkill(`---\n${front}\n---\n\nDo it.\n`, folder);

  test("name, description, text, and whether a model may activate it; fields of others are left alone", () => {
    expect(skill("name: pdf\ndescription: >\n  Reads\n  PDFs\nlicense: MIT\nmetadata:\n  a: b")).toEqual({
      name: "pdf",
      description: "Reads PDFs",
      forModel: true,
      text: "Do it.",
    });
    expect(skill("name: pdf\ndescription: x\ndisable-model-invocation: true").forModel).toBe(false);
  });

  test.each<[string, string, string?]>([
    ["no name", "description: x"],
    ["a name of other letters", "name: PDF\ndescription: x", "PDF"],
    ["a name that begins with a hyphen", "name: -pdf\ndescription: x", "-pdf"],
    ["a name that ends with one", "name: pdf-\ndescription: x", "pdf-"],
    ["a name with two in a row", "name: a--b\ndescription: x", "a--b"],
    ["a name that is a path", "name: ../pdf\ndescription: x", "../pdf"],
    ["a name of 65 letters", `name: ${"a".repeat(65)}\ndescription: x`, "a".repeat(65)],
    ["a name that is not its folder's", "name: pdf\ndescription: x", "other"],
    ["no description", "name: pdf"],
    ["an empty description", 'name: pdf\ndescription: "  "'],
    ["a description of 1025 letters", `name: pdf\ndescription: ${"x".repeat(1_025)}`],
    ["a description that is a list", "name: pdf\ndescription: [a]"],
    ["another word than true and false", "name: pdf\ndescription: x\ndisable-model-invocation: maybe"],
  ])("%s is refused", (_, front, folder) => {
    expect(() => skill(front, folder)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });
});
