/** Who is still running: agents start programs that outlive them, in groups and sessions of their own. */
import { readdirSync, readFileSync } from "node:fs";

export interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly command: string;
}

const LOOKS_MAX = 10_000;
const KERNEL_THREAD = 0x20_00_00; // PF_KTHREAD

/** Every process whose environment holds `token`. Linux only; elsewhere nothing is found. */
export function carriersOf(token: string): readonly Running[] {
  return pids().flatMap((pid) => (environmentOf(pid).includes(token) ? running(pid) : []));
}

/** While a process execs its environment and its command line are empty for an instant: then they are read again. */
function environmentOf(pid: number): string {
  for (let look = 0; look < LOOKS_MAX; look++) {
    const environment = contentOf(`/proc/${String(pid)}/environ`);
    const [state, , , , , , flags] = fieldsOf(pid);
    const isOver = state === undefined || state === "Z" || (Number(flags) & KERNEL_THREAD) !== 0;
    if (environment !== "" || isOver || contentOf(`/proc/${String(pid)}/cmdline`) !== "") return environment;
  }
  return "";
}

/** What its `stat` says behind its name, which is in brackets and may hold anything, brackets too. */
function fieldsOf(pid: number): readonly string[] {
  const stat = contentOf(`/proc/${String(pid)}/stat`);
  return stat === "" ? [] : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Ends what carries the token, the pid itself included only if it does: no name is ever matched. */
export function endCarriers(token: string): void {
  for (const { pid } of carriersOf(token)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself in between.
    }
  }
}

function pids(): readonly number[] {
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 1 && pid !== process.pid);
  } catch {
    return [];
  }
}

function running(pid: number): readonly Running[] {
  const fields = fieldsOf(pid);
  const [, parent = 0, group = 0, session = 0] = fields.map(Number);
  if (fields.length === 0) return [];
  const command = contentOf(`/proc/${String(pid)}/cmdline`)
    .replaceAll("\0", " ")
    .trim();
  return [{ pid, parent, group, session, command }];
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
