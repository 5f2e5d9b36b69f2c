import { hostname } from "node:os";
import { startOf } from "./group.ts";

/** Names this process so that another can tell whether it still runs. */
export async function processName(): Promise<string> {
  return JSON.stringify(["acp", hostname(), process.pid, await startOf(process.pid)]);
}

/** Whether a name is that of a process of this machine that is gone; false when it cannot be told. */
export async function isDeadProcess(name: string): Promise<boolean> {
  try {
    const [kind, machine, pid, start] = JSON.parse(name) as readonly unknown[];
    if (kind !== "acp" || machine !== hostname() || typeof pid !== "number") return false;
    return (await startOf(pid)) !== start;
  } catch {
    return false;
  }
}
