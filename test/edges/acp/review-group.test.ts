/** Which processes may be ended: the agent's own, and nobody else's. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { isDeadProcess, machineName, startOf } from "#turn/running-process";
import { endGroup, readIdentity } from "#turn/effects/process-group";
import { processName } from "#edges/acp/agent/process/process-name";
import { runs } from "./mini-agent.ts";

/** A group whose first process has died, and one that lives on in it. */
async function leaderless(): Promise<{ readonly group: number; readonly member: number }> {
  const child = spawn("/bin/sh", ["-c", "sleep 60 >/dev/null & echo $!"], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = once(child, "exit");
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  await exited;
  return { group: child.pid ?? 0, member: Number(said.toString()) };
}

test("a group of that number on this machine is ended, and one that was meant on another is left alone", async () => {
  const { group, member } = await leaderless();
  const mark = { pid: group, start: "1", token: "nobody" };
  await endGroup({ ...mark, machine: "elsewhere" });
  expect(runs(member)).toBe(true);
  await endGroup({ ...mark, machine: await machineName() });
  expect(runs(member)).toBe(false);
});

test("a mark without a machine, or with no sound number, is none", () => {
  expect(readIdentity(JSON.stringify({ pid: 77, start: "1", token: "t" }))).toBeNull();
  for (const pid of [0, 1, -5, 1.5, "7", null])
    expect(readIdentity(JSON.stringify({ pid, start: "1", token: "t", machine: "m" }))).toBeNull();
});

test("a process that runs is not taken for dead, one whose number is another's is", async () => {
  const own = await processName();
  expect(await isDeadProcess(own)).toBe(false);
  const another = own.replace(/begun [^,]*/, "begun at another time");
  expect(await isDeadProcess(another)).toBe(true);
  expect(await isDeadProcess(another.replace(/ on .*/, " on elsewhere)"))).toBe(false);
  expect(await isDeadProcess("somebody else")).toBe(false);
  expect(await startOf(process.pid)).not.toBeNull();
});
