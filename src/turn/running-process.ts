import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";

/**
 * Names the machine, since it was last started, and on Linux the space its processes are numbered in: a store may be
 * shared, and outlives a reboot or a container, where the same number is somebody else's.
 */
export async function machineName(): Promise<string> {
  if (process.platform !== "linux") return hostname();
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  const numbers = await readlink("/proc/self/ns/pid").catch(() => "");
  return [hostname(), boot.trim(), numbers].join(" ");
}

/** When a process began, in the system's own terms; null when there is none, or it cannot be told. */
export async function startOf(pid: number): Promise<string | null> {
  if (process.platform === "linux") return (await statOf(pid))?.start ?? null;
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)]);
    return stdout.trim() === "" ? null : stdout.trim();
  } catch {
    return null;
  }
}

/** What Linux says of its processes; a test puts one of its own in between. */
export interface ProcessTable {
  pids(): Promise<readonly number[]>;
  /** Null where there is no such process, or it may not be read. */
  read(pid: number, file: "stat" | "environ"): Promise<string | null>;
}

export const PROCESSES: ProcessTable = {
  pids: async () => (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number),
  read: (pid, file) => readFile(`/proc/${pid}/${file}`, "latin1").catch(() => null),
};

export interface ProcessStat {
  readonly state: string;
  readonly group: number;
  readonly start: string;
  readonly isKernelThread: boolean;
  /** It was started with an empty environment. While a process execs its environment has no place, and this is false. */
  readonly isBare: boolean;
}

const KERNEL_THREAD = 0x20_00_00; // PF_KTHREAD

/** The name of a program may hold anything, brackets too, so the fields are counted from behind it. */
export async function statOf(pid: number, processes: ProcessTable = PROCESSES): Promise<ProcessStat | null> {
  const text = await processes.read(pid, "stat");
  if (text === null) return null;
  const [state = "", , group = "", ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [flags, start = "", environmentStart = "0", environmentEnd] = [3, 16, 44, 45].map((at) => rest[at]);
  return {
    state,
    group: Number(group),
    start,
    isKernelThread: (Number(flags) & KERNEL_THREAD) !== 0,
    isBare: environmentStart !== "0" && environmentStart === environmentEnd,
  };
}

/** Names this process for people, and so that another can tell whether it still runs. */
export async function nameOfProcess(program: string): Promise<string> {
  const start = await startOf(process.pid);
  return `${program} (process ${process.pid}, begun ${start ?? UNKNOWN}, on ${await machineName()})`;
}

const UNKNOWN = "at an unknown time";
const NAME = /\(process (\d+), begun (.*?), on (.*)\)$/s;

/** Whether a name is that of a process of this machine that is gone; false when it cannot be told. */
export async function isDeadProcess(name: string): Promise<boolean> {
  const [, pid, start, machine] = NAME.exec(name) ?? [];
  if (pid === undefined || machine !== (await machineName())) return false;
  const now = await startOf(Number(pid));
  // A process that may not be looked at is there all the same.
  if (now === null || start === UNKNOWN) return !exists(Number(pid));
  return now !== start || (await isDefunct(Number(pid)));
}

/** It has died, and its parent has not noticed; where there is no telling, it has not. */
async function isDefunct(pid: number): Promise<boolean> {
  return process.platform === "linux" && (await statOf(pid))?.state === "Z";
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error) || !("code" in error) || error.code !== "ESRCH";
  }
}
