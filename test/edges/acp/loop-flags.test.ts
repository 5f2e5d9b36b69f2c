/** What is wrong with a command line is said before an editor is greeted. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../support/temp-dir.ts";
import { runCli } from "../cli/cli-run.ts";
import { MODEL, modelCli } from "../cli/model-cli.ts";

test.each([
  ["a provider that nobody knows", ["--model", "nobody/x"]],
  ["a model that is served nowhere", ["--model", "openai-compatible/x"]],
  ["a place without a model", ["--base-url", "http://127.0.0.1:9/v1"]],
  ["a model beside an agent", ["--model", "sim", "--", "some-agent"]],
  ["a model beside a named agent", ["--model", "sim", "--agent", "a=some-agent"]],
])("%s is the caller's mistake", async (_, args) => {
  using dir = tempDir();
  const { status, out, err } = await runCli(`sqlite:${join(dir.path, "h.db")}`, ["acp", ...args]);
  expect([status, out]).toEqual([2, ""]);
  expect(err).not.toBe("");
});

test("a model without its key is the caller's mistake, and what to set is said", async () => {
  await using cli = await modelCli([]);
  const { status, out, err } = await cli.run(["acp", "--model", MODEL], {
    env: { ANTHROPIC_API_KEY: undefined },
  });
  expect([status, out]).toEqual([2, ""]);
  expect(err).toContain("ANTHROPIC_API_KEY");
});
