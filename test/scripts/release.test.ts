import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { releaseNotes } from "../../scripts/release-notes.ts";
import { ROOT } from "../edges/cli/cli-run.ts";

interface Workflow {
  readonly jobs: { readonly [name: string]: { readonly steps: readonly { readonly run?: string }[] } };
}

const folder = join(ROOT, ".github", "workflows");
const workflows = readdirSync(folder).map(
  (name) => parse(readFileSync(join(folder, name), "utf8")) as Workflow,
);
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly scripts: { readonly [name: string]: string };
};
const commands = workflows
  .flatMap(({ jobs }) => Object.values(jobs))
  .flatMap(({ steps }) => steps.flatMap(({ run }) => (run === undefined ? [] : [run])));

test("the notes of a release are its part of the changelog", () => {
  const changelog =
    "# Changelog\n\n## Unreleased\n\n- c\n\n## 0.2.0 - 2026-12-01\n\n- b\n\n### Fixed\n\n- d\n\n## 0.1.0\n\n- a\n";
  expect(releaseNotes(changelog, "0.2.0")).toBe("- b\n\n### Fixed\n\n- d");
  expect(releaseNotes(changelog, "0.1.0")).toBe("- a");
  expect(releaseNotes(changelog, "0.2")).toBe(null);
});

test("workflows run scripts that exist, and the test command of the README", () => {
  const scripts = commands.flatMap((line) => /^npm run (\S+)/.exec(line)?.[1] ?? []);
  expect(scripts.filter((name) => !(name in manifest.scripts))).toEqual([]);
  expect(commands).toContain("npm install");
  expect(commands).toContain("npm test");
  expect(readFileSync(join(ROOT, "README.md"), "utf8")).toContain("npm install && npm test");
});
