import { machineName, startOf } from "./group.ts";

/** Names this process so that another can tell whether it still runs. */
export async function processName(): Promise<string> {
  return JSON.stringify(["acp", await machineName(), process.pid, await startOf(process.pid)]);
}

/** Whether a name is that of a process of this machine that is gone; false when it cannot be told. */
export async function isDeadProcess(name: string): Promise<boolean> {
  try {
    const [kind, machine, pid, start] = JSON.parse(name) as readonly unknown[];
    if (kind !== "acp" || machine !== (await machineName()) || typeof pid !== "number") return false;
    const now = await startOf(pid);
    // A process that may not be looked at is there all the same.
    return now === null ? !exists(pid) : now !== start;
  } catch {
    return false;
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error) || !("code" in error) || error.code !== "ESRCH";
  }
}
