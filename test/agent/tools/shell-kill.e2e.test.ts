/** A command of the shell outlives its host that is killed, and is ended by whoever finds the turn. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHoldfast } from "#index";
import { openToolProcesses } from "#turn/effects/left-processes";
import { runProgram } from "../../support/process-life.ts";
import { runs } from "../../edges/acp/mini-agent.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { programFile } from "../../support/programs.ts";

const program = programFile(join(import.meta.dirname, "../../support/shell-host.ts"));

test("kill -9 of the host leaves a group that the next one ends before it sends anything", async () => {
  using temp = tempDir();
  const address = `sqlite:${join(temp.path, "log.db")}`;
  const [holdfast, chat] = await opened(address);
  // One in the group that does not heed SIGTERM, one that left the group.
  const command = "trap '' TERM; sleep 600 & a=$!; setsid sleep 600 & echo $$ $a $!; wait";
  const host = spawn(process.execPath, [program, address, temp.path, chat, command], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(host.stdout, "data")) as [Buffer];
  const pids = said.toString().trim().split(" ").map(Number);
  const exited = once(host, "exit");
  host.kill("SIGKILL");
  await exited;
  // A process that is just starting its program has no command line for a moment.
  await expect.poll(() => pids.map((pid) => runs(pid))).toEqual([true, true, true]);
  const conversation = await holdfast.conversation(chat);
  expect(openToolProcesses(await conversation.facts(["tool_progress"]))).toHaveLength(1);

  const next = await runProgram(program, address, temp.path, chat, "settle");
  expect([next.stdout, next.stderr]).toEqual(["completed\n", ""]);
  expect(pids.map((pid) => runs(pid))).toEqual([false, false, false]);
  expect(openToolProcesses(await conversation.facts(["tool_progress"]))).toEqual([]);
  expect((await conversation.effects()).map(({ state }) => state)).toEqual(["unknown"]);
  await holdfast[Symbol.asyncDispose]();
});

async function opened(address: string): Promise<readonly [Awaited<ReturnType<typeof openHoldfast>>, string]> {
  const holdfast = await openHoldfast({ store: address });
  return [holdfast, (await holdfast.create({ title: "Kill" })).id];
}
