import { isDefunct, machineName, startOf } from "./group.ts";

/** Names this process for people, and so that another can tell whether it still runs. */
export async function processName(): Promise<string> {
  const start = await startOf(process.pid);
  return `holdfast acp (process ${process.pid}, begun ${start}, on ${await machineName()})`;
}

const NAME = /^holdfast acp \(process (\d+), begun (.*?), on (.*)\)$/s;

/** Whether a name is that of a process of this machine that is gone; false when it cannot be told. */
export async function isDeadProcess(name: string): Promise<boolean> {
  const [, pid, start, machine] = NAME.exec(name) ?? [];
  if (pid === undefined || machine !== (await machineName())) return false;
  const now = await startOf(Number(pid));
  // A process that may not be looked at is there all the same.
  if (now === null) return !exists(Number(pid));
  return now !== start || (await isDefunct(Number(pid)));
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error) || !("code" in error) || error.code !== "ESRCH";
  }
}
