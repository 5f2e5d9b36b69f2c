import fc from "fast-check";
import { expect, test } from "vitest";
import type { Fields } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import {
  changedChoices,
  choicesFor,
  readConfig,
  withChoices,
  withConfig,
  withoutCwd,
} from "#log/projections/config";
import { cwdOf } from "#log/projections/settings";

const anything = fc.jsonValue() as fc.Arbitrary<Json>;
const KNOWN = ["agent", "agents", "working", "cwd", "additionalDirectories", "mcpServers"];
const stored: fc.Arbitrary<Fields> = fc.dictionary(
  fc.oneof(fc.constantFrom(...KNOWN), fc.string()),
  anything,
);

test("a stored config of any shape is read, and what is written into it is read again", () => {
  fc.assert(
    fc.property(stored, fc.string(), fc.string(), (config, agent, cwd) => {
      const working = { agent, model: "m" };
      const changed = { agent, working, mcpServers: [{ name: "files" }] };
      expect(readConfig(withConfig(config, changed))).toMatchObject(changed);
      expect(cwdOf({ ...config, cwd }, "/begun")).toBe(cwd);
      expect(cwdOf(withoutCwd({ ...config, cwd }), "/begun")).toBe("/begun");
    }),
  );
});

test("members that Holdfast does not know stay as they are, beside and within what was chosen", () => {
  fc.assert(
    fc.property(stored, fc.string(), anything, (config, agent, value) => {
      const agents = { [agent]: { theirs: value }, other: value };
      const next = withChoices({ ...config, agents }, agent, { mode: "plan" });
      expect(next).toEqual({
        ...config,
        agents: { other: value, [agent]: { theirs: value, mode: "plan" } },
      });
    }),
  );
});

test("options are chosen one by one, and each agent has its own", () => {
  let config: Fields = {};
  config = withChoices(config, "claude", { options: { effort: "high", fast: true } });
  config = withChoices(config, "claude", { mode: "plan", options: { effort: "low" } });
  config = withChoices(config, "codex", { model: "m" });
  expect(choicesFor(config, "claude")).toEqual({ mode: "plan", options: { effort: "low", fast: true } });
  expect(choicesFor(config, "codex")).toEqual({ model: "m" });
  expect(choicesFor(config, "constructor")).toEqual({});
});

test.each([
  ["a working model without its agent", { working: { model: "m" } }],
  ["a folder that is no text", { cwd: 3 }],
  ["servers that are no list", { mcpServers: "all" }],
  ["an agent that is no name", { agent: null }],
])("%s says nothing", (_, config) => {
  expect(readConfig(config)).toEqual({});
  expect(cwdOf(config, "/begun")).toBe("/begun");
});

test("what was chosen since is what differs, option by option; nothing is unchosen", () => {
  const before = { mode: "plan", options: { effort: "low", fast: true } };
  expect(changedChoices(before, before)).toEqual({});
  expect(
    changedChoices(before, { mode: "edit", options: { effort: "low", fast: false, model: "m" } }),
  ).toEqual({
    mode: "edit",
    options: { fast: false, model: "m" },
  });
  expect(changedChoices({}, { model: "m", options: { constructor: "x" } })).toEqual({
    model: "m",
    options: { constructor: "x" },
  });
  expect(changedChoices(before, {})).toEqual({});
});
