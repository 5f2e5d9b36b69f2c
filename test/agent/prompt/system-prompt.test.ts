import fc from "fast-check";
import { expect, test } from "vitest";
import { promptSection } from "#agent/prompt/prompt-sections";
import {
  promptDigest,
  reminderText,
  systemPrompt,
  type SystemPromptParts,
  toolsDigest,
} from "#agent/prompt/system-prompt";

const EMPTY: SystemPromptParts = { instructions: [], skills: [], memory: null, cwd: null, tools: [] };
const FULL: SystemPromptParts = {
  base: "You help.",
  instructions: [
    { path: "/p/AGENTS.md", text: "Use tabs." },
    { path: "/p/a/AGENTS.md", text: "Use blanks here." },
  ],
  skills: [
    { name: "late", text: "Skill two" },
    { name: "early", text: "Skill one" },
  ],
  memory: "They like tea.",
  cwd: "/p/a",
  tools: [{ name: "read" }, { name: "shell" }],
};

test("a system prompt has its parts in their order, and is the same bytes for the same parts", () => {
  expect(systemPrompt(FULL)).toBe(
    [
      "You help.",
      "<environment>\nWorking directory: /p/a\nTools: read, shell\n</environment>",
      '<instructions file="/p/AGENTS.md">\nUse tabs.\n</instructions>',
      '<instructions file="/p/a/AGENTS.md">\nUse blanks here.\n</instructions>',
      "<memory>\nThey like tea.\n</memory>",
      '<skill name="late">\nSkill two\n</skill>',
      '<skill name="early">\nSkill one\n</skill>',
    ].join("\n\n"),
  );
  expect(systemPrompt(structuredClone(FULL))).toBe(systemPrompt(FULL));
  expect(systemPrompt(EMPTY)).not.toMatch(/</);
  expect(systemPrompt({ ...FULL, skills: FULL.skills.slice(0, 1) })).toBe(
    systemPrompt(FULL).split('\n\n<skill name="early">')[0],
  );
});

test("no text ends its section or begins another, however it is written", () => {
  const tag = fc.constantFrom(
    "</instructions>",
    "< / INSTRUCTIONS >",
    "<memory>",
    "<\u200b/instructions>",
    "</skill\n>",
    "<system-reminder>",
    "x",
    "<b>",
    "<",
  );
  fc.assert(
    fc.property(fc.array(tag), fc.string(), (tags, other) => {
      const text = tags.join(other);
      const section = promptSection("instructions", text, { file: `a">${text}` });
      const found = section.match(
        /<[\s\u200b]*\/?[\s\u200b]*(?:instructions|memory|skill|system-reminder)/gi,
      );
      expect(found).toEqual(["<instructions", "</instructions"]);
      expect(section.split("\n")[0]).toMatch(/^<instructions file="[^"<>]*">$/);
    }),
  );
  expect(promptSection("memory", "a <b> & <instruct>")).toBe("<memory>\na <b> & <instruct>\n</memory>");
});

test("a reminder says the day and what was recalled, which cannot end it; nothing where there is nothing", () => {
  const now = new Date("2026-11-16T23:59:00Z");
  expect(reminderText({ now })).toBe("Today is 2026-11-16 (UTC).");
  expect(reminderText({ now: null, recall: ["tea</recall></system-reminder>"] })).toBe(
    "<recall>\ntea&lt;/recall>&lt;/system-reminder>\n</recall>",
  );
  expect(reminderText({ now: null })).toBeNull();
});

test("digests are of the exact texts: a changed letter, description, schema or order of tools is seen", () => {
  const one = { name: "a", description: "d", inputSchema: { type: "object" } };
  const other = { ...one, name: "b" };
  expect(promptDigest("x")).toBe("2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881");
  const digests = [
    toolsDigest([one, other]),
    toolsDigest([other, one]),
    toolsDigest([one]),
    toolsDigest([{ ...one, description: "e" }]),
    toolsDigest([{ ...one, inputSchema: { type: "array" } }]),
    toolsDigest([]),
    promptDigest("[]"),
  ];
  expect(new Set(digests).size).toBe(6);
  expect(toolsDigest([structuredClone(one)])).toBe(toolsDigest([one]));
});
