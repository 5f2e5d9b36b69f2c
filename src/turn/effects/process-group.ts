import { setTimeout as pause } from "node:timers/promises";
import { machineName, PROCESSES, type ProcessTable, startOf, statOf } from "#turn/running-process";
import { readJson } from "#log/json/read-json";

/** The variable by which a process that an agent started can be told from any other, wherever it went. */
export const TOKEN_NAME = "HOLDFAST_AGENT_MARK";

/** The same for what a tool of ours started: inside an agent's process it carries both, and is found by either. */
export const TOOL_TOKEN_NAME = "HOLDFAST_TOOL_MARK";

const TERM_MS = 2_000; // an agent that is asked ends its tools; one that is not does not
const KILL_MS = 2_000;
const LOOK_MS = 15;

/** Which process an agent or a tool runs in, so that it can be found again after everything here was lost. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it began, in the system's own terms: a number that comes again is another process. */
  readonly start: string;
  readonly token: string;
  /** Where numbers and start times mean this process: see `machineName`. */
  readonly machine: string;
}

export async function identityOf(pid: number, token: string): Promise<ProcessIdentity> {
  const [start, machine] = await Promise.all([startOf(pid), machineName()]);
  return { pid, start: start ?? "", token, machine };
}

export function identityText({ pid, start, token, machine }: ProcessIdentity): string {
  return JSON.stringify({ pid, start, token, machine });
}

const GONE = " gone";

/** The identity of a process that has died; what it started may live on. */
export function goneIdentity(text: string): string {
  return text + GONE;
}

/** Null for text that is none: a record of another kind of agent. */
export function readIdentity(text: string): ProcessIdentity | null {
  try {
    const bare = text.endsWith(GONE) ? text.slice(0, -GONE.length) : text;
    const { pid = 0, start, token, machine } = readJson(bare) as Partial<ProcessIdentity>;
    if (!Number.isSafeInteger(pid) || pid <= 1 || typeof start !== "string") return null;
    if (typeof token !== "string" || token === "" || typeof machine !== "string") return null;
    return { pid, start, token, machine };
  } catch {
    return null;
  }
}

/**
 * Ends the group of a process, and on Linux whatever else carries its token: a tool in a session of its own outlives
 * its group. A number that belongs to another process by now is left alone, and so is one of another machine: nothing
 * there can be ended from here. Throws when something would not end.
 */
export async function endGroup(
  identity: ProcessIdentity,
  processes: ProcessTable = PROCESSES,
): Promise<void> {
  if (identity.machine !== (await machineName())) return;
  let survivors = { pids: [], unclear: false } as Looked;
  for (const [signal, ms] of [
    ["SIGTERM", TERM_MS],
    ["SIGKILL", KILL_MS],
  ] as const) {
    if (await ownsGroup(identity)) send(-identity.pid, signal);
    const sent = new Set<number>();
    const untilMs = performance.now() + ms;
    do {
      survivors = await look(identity, processes);
      if (survivors.pids.length === 0 && !survivors.unclear) return;
      for (const pid of survivors.pids) {
        if (!sent.has(pid)) send(pid, signal);
        sent.add(pid);
      }
      await pause(LOOK_MS);
    } while (performance.now() < untilMs);
  }
  if (survivors.pids.length > 0) throw new Error(`Process ${identity.pid} and its children do not exit`);
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** A group lives on without its first process, and nobody else is given that number while it does. */
async function ownsGroup(identity: ProcessIdentity): Promise<boolean> {
  const start = await startOf(identity.pid);
  return start === null || start === identity.start;
}

interface Looked {
  /** Every living process of the group or with the token; where only the group can be seen, its number below zero. */
  readonly pids: readonly number[];
  /** One may be among them and cannot be told yet. */
  readonly unclear: boolean;
}

/** Lists the processes until no new ones come: one that begins while the others are read is not missed. */
async function look(identity: ProcessIdentity, processes: ProcessTable): Promise<Looked> {
  const owns = await ownsGroup(identity);
  if (process.platform !== "linux")
    return { pids: owns && send(-identity.pid, 0) ? [-identity.pid] : [], unclear: false };
  const group = owns ? identity.pid : null;
  const carriers = new Map<number, boolean | null>([[process.pid, false]]);
  for (;;) {
    const fresh = (await processes.pids()).filter((pid) => !carriers.has(pid));
    if (fresh.length === 0) break;
    const read = fresh.map(async (pid) => {
      carriers.set(pid, await isCarrier(pid, { group, token: identity.token }, processes));
    });
    await Promise.all(read);
  }
  const pids = [...carriers].flatMap(([pid, carries]) => (carries === true ? [pid] : []));
  return { pids, unclear: [...carriers.values()].includes(null) };
}

/** Null while a process execs: for that instant its environment reads as empty. */
async function isCarrier(
  pid: number,
  { group, token }: { readonly group: number | null; readonly token: string },
  processes: ProcessTable,
): Promise<boolean | null> {
  const stat = await statOf(pid, processes);
  if (stat === null || stat.state === "Z" || stat.isKernelThread) return false;
  if (stat.group === group) return true;
  const environment = await processes.read(pid, "environ");
  // What it is said to have is looked up after it was read: in between it may have become another program.
  if (environment === "") return (await statOf(pid, processes))?.isBare === false ? null : false;
  return [TOKEN_NAME, TOOL_TOKEN_NAME].some((name) => environment?.includes(`${name}=${token}`) === true);
}
