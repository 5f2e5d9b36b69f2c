/** Which processes may be ended: the agent's own, and nobody else's. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { isDeadProcess, machineName, PROCESSES, startOf } from "#turn/running-process";
import { endGroup, type ProcessIdentity, readIdentity, TOOL_TOKEN_NAME } from "#turn/effects/process-group";
import { nameOfProcess } from "#turn/running-process";
import { runs } from "../mini-agent.ts";

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

const TOKEN = "a-token-of-this-test";

/** A process outside its tool's group, which is gone; `env`: all of its environment. */
async function strayOf(env: NodeJS.ProcessEnv): Promise<ChildProcess & AsyncDisposable> {
  const child = spawn("/bin/sleep", ["60"], { detached: true, stdio: "ignore", env });
  const exited = once(child, "exit");
  await once(child, "spawn");
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  return Object.assign(child, { [Symbol.asyncDispose]: end });
}

const gone = async (): Promise<ProcessIdentity> => ({
  pid: 4_194_305, // Linux gives no process a number as high
  start: "1",
  token: TOKEN,
  machine: await machineName(),
});

test.runIf(process.platform === "linux")("a process that execs while it is looked for is ended", async () => {
  await using stray = await strayOf({ [TOOL_TOKEN_NAME]: TOKEN });
  let execs = true;
  await endGroup(await gone(), {
    ...PROCESSES,
    read: async (pid, file) => {
      if (pid !== stray.pid || file !== "environ" || !execs) return PROCESSES.read(pid, file);
      execs = false;
      return "";
    },
  });
  expect([execs, runs(stray.pid ?? 0)]).toEqual([false, false]);
});

test.runIf(process.platform === "linux")(
  "a process that begins while the others are looked at is ended",
  async () => {
    await using stray = await strayOf({ [TOOL_TOKEN_NAME]: TOKEN });
    let lists = 0;
    const pids = async (): Promise<readonly number[]> =>
      (await PROCESSES.pids()).filter((pid) => pid !== stray.pid || lists++ > 0);
    await endGroup(await gone(), { ...PROCESSES, pids });
    expect(runs(stray.pid ?? 0)).toBe(false);
  },
);

test.runIf(process.platform === "linux")(
  "a process with an empty environment is left alone, at the first look",
  async () => {
    await using stray = await strayOf({});
    let looks = 0;
    await endGroup(await gone(), {
      pids: async () => [stray.pid ?? 0],
      read: (pid, file) => {
        if (file === "environ") looks++;
        return PROCESSES.read(pid, file);
      },
    });
    expect([looks, runs(stray.pid ?? 0)]).toEqual([1, true]);
  },
);

test("a mark without a machine, or with no sound number, is none", () => {
  expect(readIdentity(JSON.stringify({ pid: 77, start: "1", token: "t" }))).toBeNull();
  for (const pid of [0, 1, -5, 1.5, "7", null])
    expect(readIdentity(JSON.stringify({ pid, start: "1", token: "t", machine: "m" }))).toBeNull();
});

test("a process that runs is not taken for dead, one whose number is another's is", async () => {
  const own = await nameOfProcess("holdfast acp");
  expect(await isDeadProcess(own)).toBe(false);
  const another = own.replace(/begun [^,]*/, "begun at another time");
  expect(await isDeadProcess(another)).toBe(true);
  expect(await isDeadProcess(another.replace(/ on .*/, " on elsewhere)"))).toBe(false);
  expect(await isDeadProcess("somebody else")).toBe(false);
  expect(await startOf(process.pid)).not.toBeNull();
});
