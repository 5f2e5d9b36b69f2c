/** Which versions of an agent's adapter are used, and how each speaks. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dialectOf, tooOld } from "#vendors/adapters";
import { CLAUDE } from "#vendors/claude/claude";
import { UNKNOWN_VENDOR, VENDORS } from "#vendors/known-vendors";
import { ROOT } from "../edges/cli/cli-run.ts";

const CLAUDE_ACP = "@agentclientprotocol/claude-agent-acp";
const introduced = (name: string, version: string): object => ({ agentInfo: { name, version } });

test.each([
  [CLAUDE_ACP, "0.24.2", true],
  [CLAUDE_ACP, "0.25.0", false],
  [CLAUDE_ACP, "0.100.0", false],
  [CLAUDE_ACP, "1.0.0-beta.1", false],
  [CLAUDE_ACP, "", false],
  ["@zed-industries/claude-code-acp", "0.16.2", true],
  ["something-else", "0.0.1", false],
])("%s %s is refused: %s", (name, version, refused) => {
  expect(tooOld(CLAUDE, { ...introduced(name, version) }) !== null).toBe(refused);
});

/** The table of versions in the guide: the oldest one by the agent's name. */
const OLDEST = new Map(
  [
    ...readFileSync(join(ROOT, "docs/how-to/integrate/acp-editors.md"), "utf8").matchAll(
      /^\| `(\S+)` +\| ([\d.]+) +\|/gm,
    ),
  ].map(([, agent = "", oldest = ""]) => [agent, oldest]),
);
const ADAPTERS = VENDORS.flatMap((vendor) =>
  (vendor.adapters ?? []).map((adapter) => [adapter.name, { vendor, ...adapter }] as const),
);

test.each(ADAPTERS)("%s is refused below the version that the guide names", (name, { vendor, oldest }) => {
  expect(OLDEST.get(name.toLowerCase()) ?? null).toBe(oldest);
  const [major = 0, minor = 0] = (oldest ?? "9.0").split(".").map(Number);
  const before = minor > 0 ? `${major}.${minor - 1}.99` : `${major - 1}.99.99`;
  expect(tooOld(vendor, { ...introduced(name, before) })).not.toBeNull();
  expect(tooOld(vendor, { ...introduced(name, oldest ?? "99.0.0") }) === null).toBe(oldest !== null);
});

test("an agent that does not introduce itself is used", () => {
  for (const vendor of [...VENDORS, UNKNOWN_VENDOR]) expect(tooOld(vendor, {})).toBeNull();
});

test.each([
  [CLAUDE_ACP, "0.42.0", true],
  [CLAUDE_ACP, "0.41.9", false],
  ["something-else", "9.0.0", false],
])("text of %s %s without an id is a remark: %s", (name, version, isRemark) => {
  expect(dialectOf(CLAUDE, { ...introduced(name, version) }).remarksLackId).toBe(isRemark);
});

test("every known adapter names the command that updates it", () => {
  for (const { update } of VENDORS.flatMap(({ adapters = [] }) => adapters))
    expect(update).toMatch(/^npm install -g \S+@latest$/);
});
