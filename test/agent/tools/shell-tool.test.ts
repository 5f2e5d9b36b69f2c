/** Commands of the shell as real processes, none of which is left behind. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shellTool } from "#agent/tools/shell-tool";
import { type Clock, systemClock } from "#conversation/clock";
import { readIdentity } from "#turn/effects/process-group";
import { runEffects } from "#turn/effects/run-effects";
import type { Tool } from "#turn/effects/tool";
import { runs } from "../../edges/acp/mini-agent.ts";
import { aConversation, assistant } from "../../support/a-log.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { aCall, textOf, toolNamed, use } from "./use-tool.ts";

test("shell gives what is written, errors among it, and the exit code", async () => {
  using temp = tempDir();
  const shell = toolNamed("shell", temp.path);
  expect(await use(shell, { command: "echo out; echo err >&2; pwd -P" })).toMatchObject({
    state: "done",
    details: { exitCode: 0 },
    output: expect.stringMatching(/^out\nerr\n\/.*\n\[exit code 0\]$/),
  });
  expect(await use(shell, { command: "printf half; exit 3" })).toMatchObject({
    state: "failed",
    output: "half\n[exit code 3]",
    details: { exitCode: 3 },
  });
  expect(textOf(await use(shell, { command: "kill -9 $$" }))).toContain("SIGKILL");
  expect(textOf(await use(shell, { command: "cat" }))).toBe("[exit code 0]");
  const loud = textOf(await use(shell, { command: "head -c 30000000 /dev/zero | tr '\\0' x; echo end" }));
  expect([loud.length < 50_000, loud.includes("end\n[exit code 0]")]).toEqual([true, true]);
  expect(await use(shellTool({ cwd: join(temp.path, "missing") }), { command: "true" })).toMatchObject({
    state: "failed",
  });
});

/** What a shell says of itself first: the numbers of processes. */
async function numbers(said: Promise<string>): Promise<readonly number[]> {
  return (await said).trim().split(/\s+/).map(Number);
}

test("what a command leaves in the background is ended with it, also what left its group", async () => {
  using temp = tempDir();
  const shell = toolNamed("shell", temp.path);
  const command = "sleep 600 >/dev/null 2>&1 & echo $!; setsid sleep 600 & echo $!";
  const said = textOf(await use(shell, { command })).replace(/\[.*/, "");
  const pids = await numbers(Promise.resolve(said));
  expect(pids).toHaveLength(2);
  expect(pids.map((pid) => runs(pid))).toEqual([false, false]);
});

/** A tool, and what it said first. */
function heard(tool: Tool): { readonly tool: Tool; readonly said: Promise<string> } {
  const said = Promise.withResolvers<string>();
  const run: Tool["run"] = (input, call) =>
    tool.run(input, { ...call, progress: (text) => (said.resolve(text), call.progress(text)) });
  return { tool: { ...tool, run }, said: said.promise };
}

test("when the turn is over the whole group is ended, and what it had said stays", async () => {
  using temp = tempDir();
  const turn = new AbortController();
  const { tool, said } = heard(shellTool({ cwd: temp.path }));
  const running = use(tool, { command: "trap '' TERM; sleep 600 & echo $$ $!; wait" }, turn.signal);
  const pids = await numbers(said);
  expect(pids.map((pid) => runs(pid))).toEqual([true, true]);
  turn.abort();
  const outcome = await running;
  expect(outcome).toMatchObject({ state: "failed", output: expect.stringContaining("[stopped: ") });
  expect(textOf(outcome)).toContain(String(pids[0]));
  expect(pids.map((pid) => runs(pid))).toEqual([false, false]);
});

test("a command that takes too long is stopped by its time limit", async () => {
  using temp = tempDir();
  const { tool, said } = heard(shellTool({ cwd: temp.path, timeoutMs: 3_000 }));
  const sleep: Clock["sleep"] = async (ms, signal) =>
    ms === 3_000 ? void (await said) : systemClock.sleep(ms, signal);
  const command = { command: "echo begun; sleep 600" };
  const outcome = await use(tool, command, undefined, { ...systemClock, sleep });
  expect(outcome).toMatchObject({
    state: "failed",
    output: expect.stringMatching(/^begun\n\[stopped: /),
  });
});

test("a command begins only once its process is in the log; what cannot be recorded is not run", async () => {
  using temp = tempDir();
  const shell = shellTool({ cwd: temp.path });
  const file = join(temp.path, "ran");
  const asked = Promise.withResolvers<string>();
  const written = Promise.withResolvers<void>();
  const running = shell.run(
    { command: "touch ran" },
    aCall((process) => (asked.resolve(process), written.promise)),
  );
  const identity = readIdentity(await asked.promise);
  expect([runs(identity?.pid ?? 0), existsSync(file)]).toEqual([true, false]);
  written.resolve();
  await running;
  expect(existsSync(file)).toBe(true);
  const pids: number[] = [];
  const refused = shell.run(
    { command: "touch refused" },
    aCall((process) => {
      pids.push(readIdentity(process)?.pid ?? 0);
      return Promise.reject(new Error("disk full"));
    }),
  );
  await expect(refused).rejects.toThrow("disk full");
  expect([pids.map((pid) => runs(pid)), existsSync(join(temp.path, "refused"))]).toEqual([[false], false]);
  await shell.run(
    { command: "touch late" },
    aCall(async () => undefined, AbortSignal.abort()),
  );
  expect(existsSync(join(temp.path, "late"))).toBe(false);
});

test("the log says of each process when it was made known and when it ended", async () => {
  using temp = tempDir();
  const chat = await aConversation(assistant("", "m1", "c0"));
  await using owner = await chat.own({ writer: "host", leaseMs: 60_000 });
  const calls = [{ id: "c0", tool: shellTool({ cwd: temp.path }), input: { command: "true" } }];
  await runEffects(owner, "t1", { calls, signal: new AbortController().signal });
  const facts = (await chat.facts(["tool_intent", "tool_progress"])).map((fact) =>
    fact.type === "tool_progress" ? fact.data : fact.type,
  );
  const process = (facts[1] as { process: string }).process;
  expect(facts).toEqual(["tool_intent", { process }, { process, ended: true }]);
  expect(runs(readIdentity(process)?.pid ?? 0)).toBe(false);
});
