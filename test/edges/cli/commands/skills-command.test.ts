import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { skillFolders } from "../../../agent/skills/skill-folder.ts";
import { jsonLines } from "../cli-run.ts";
import { MODEL, modelCli } from "../model-cli.ts";

test("skills lists those of the project and of the person, shows one, and says what cannot be taken", async () => {
  await using cli = await modelCli();
  await using at = await skillFolders();
  const home = { env: { HOME: join(at.user, "../..") } };
  await at.skill(join(cli.folder, ".agents/skills"), "review", {
    text: "Look\u001b[31m closely.",
    files: { "references/how.md": "x" },
  });
  await at.skill(at.user, "tidy", { front: "disable-model-invocation: true\n" });
  await symlink("/etc", join(cli.folder, ".agents/skills/etc"));
  await at.skill(join(cli.folder, ".claude/skills"), "Bad");
  const listed = await cli.run(["skills"], home);
  expect(listed.status).toBe(0);
  expect(listed.out).toContain("review  .agents/skills/review");
  expect(listed.out).toContain("tidy  ~/.agents/skills/tidy");
  expect(listed.err).toContain("Bad/SKILL.md");
  const [json] = jsonLines((await cli.run(["skills", "ls", "--json"], home)).out);
  expect(json).toMatchObject({
    schemaVersion: 1,
    skills: [
      { name: "review", source: ".agents/skills/review", forModel: true },
      { name: "tidy", source: "~/.agents/skills/tidy", forModel: false },
    ],
    issues: [{ problem: "invalid" }],
  });
  const shown = await cli.run(["skills", "show", "review"], home);
  expect(shown.out).toContain("closely.");
  expect(shown.out).not.toContain("\u001b");
  expect(shown.out).toContain("references/how.md");
  expect((await cli.run(["skills", "show", "none"], home)).status).toBe(3);
  expect((await cli.run(["skills", "rm"], home)).status).toBe(2);
});

test("/skill in a chat activates one for the conversation; a later process has it and says when it changed", async () => {
  await using cli = await modelCli();
  await using at = await skillFolders();
  await at.skill(join(cli.folder, ".agents/skills"), "review");
  const input = "/skill\n/skill review\n/skill review\nhello\n";
  const first = await cli.run(["chat", "s", "--model", MODEL], { input });
  expect(first.out).toContain("review: Shows review.");
  expect(first.out).toContain("already active");
  expect(JSON.stringify(cli.server.requests[0]?.body)).toContain("How to review.");
  await at.skill(join(cli.folder, ".agents/skills"), "review", { text: "How to review anew." });
  const second = await cli.run(["chat", "s", "-p", "again"]);
  expect(second.err).toContain("⚡ The skill review");
  expect(JSON.stringify(cli.server.requests[1]?.body)).toContain("How to review anew.");
});
