/** The walk of the guide, word for word, over a scripted service: production, local, another model, what changed. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { ScriptedAnswer } from "../support/model-server/scripted-answer.ts";
import { startModelServer } from "../support/model-server.ts";
import { tempDir } from "../support/temp-dir.ts";
import { ROOT } from "../edges/cli/cli-run.ts";

const run = promisify(execFile);
const GUIDE = readFileSync(join(ROOT, "docs/how-to/debug/replay.md"), "utf8");
const WALK = [...GUIDE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);

const PUBLISH = { calls: [{ name: "shell", input: { command: "echo published >> published.txt" } }] };
const WRITE = { calls: [{ name: "write", input: { path: "report.txt", content: "All is well." } }] };

function answerTo(wire: string, body: string): ScriptedAnswer {
  if (body.includes("Is it published?")) return { text: "It is." };
  const results = body.split(/"type":"tool_result"|"type":"function_call_output"/).length - 1;
  const steps = wire === "anthropic" ? [WRITE, PUBLISH] : [PUBLISH];
  return steps[results] ?? { text: "Done." };
}

test("the guide's walk runs as it stands there, and publishes nothing a second time", async () => {
  using folder = tempDir();
  await using server = await startModelServer(({ wire, body }) => answerTo(wire, body));
  symlinkSync(join(ROOT, "holdfast"), join(folder.path, "holdfast"));
  const env = {
    ...process.env,
    PATH: `${folder.path}:${process.env["PATH"] ?? ""}`,
    NO_COLOR: "1",
    ANTHROPIC_API_KEY: "dummy",
    ANTHROPIC_BASE_URL: server.baseUrl("anthropic"),
    OPENAI_API_KEY: "dummy",
    OPENAI_BASE_URL: server.baseUrl("openai"),
  };
  const script = `set -eu\n${WALK.join("\n")}`;
  const { stdout } = await run("/bin/sh", ["-c", script], { cwd: folder.path, env });
  expect(existsSync(join(folder.path, "report.txt"))).toBe(true);
  expect(readFileSync(join(folder.path, "published.txt"), "utf8")).toBe("published\n");
  expect(stdout).toContain("write → shell");
  expect(stdout).toContain("→ holdfast diff ");
  const patched = server.requests.filter(({ body }) => body.includes("before you were asked twice"));
  expect(patched.length).toBe(1);
  const replays = stdout.split("\n").filter((line) => line.includes('"type":"replay"'));
  expect(replays.length).toBe(4);
});
