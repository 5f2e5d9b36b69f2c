/** Who is still running: agents start programs that outlive them, in groups and sessions of their own. */
import { readdirSync, readFileSync } from "node:fs";

export interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly command: string;
}

/** Every process whose environment holds `token`. Linux only; elsewhere nothing is found. */
export function carriersOf(token: string): readonly Running[] {
  return pids().flatMap((pid) => {
    const environ = contentOf(`/proc/${String(pid)}/environ`);
    return environ.includes(token) ? running(pid) : [];
  });
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
  // The name is in brackets and may hold anything, brackets too; the numbers come after the last one.
  const stat = contentOf(`/proc/${String(pid)}/stat`);
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [, parent = 0, group = 0, session = 0] = fields;
  if (stat === "") return [];
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
