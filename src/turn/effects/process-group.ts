import { readdir, readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { machineName, startOf, statOf } from "#turn/running-process";
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
export async function endGroup(identity: ProcessIdentity): Promise<void> {
  if (identity.machine !== (await machineName())) return;
  for (const [signal, ms] of [
    ["SIGTERM", TERM_MS],
    ["SIGKILL", KILL_MS],
  ] as const) {
    await signalAll(identity, signal);
    const untilMs = performance.now() + ms;
    do {
      if (!(await isAlive(identity))) return;
      await pause(LOOK_MS);
    } while (performance.now() < untilMs);
  }
  throw new Error(`The process ${identity.pid} and what it started do not end`);
}

async function signalAll(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<void> {
  if (await ownsGroup(identity)) send(-identity.pid, signal);
  for (const pid of await carriers(identity)) send(pid, signal);
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  if (process.platform === "linux") return (await carriers(identity)).length > 0;
  return (await ownsGroup(identity)) && send(-identity.pid, 0);
}

/** A group lives on without its first process, and nobody else is given that number while it does. */
async function ownsGroup(identity: ProcessIdentity): Promise<boolean> {
  const start = await startOf(identity.pid);
  return start === null || start === identity.start;
}

/** Every living process of the group or with the token. */
async function carriers(identity: ProcessIdentity): Promise<readonly number[]> {
  if (process.platform !== "linux") return [];
  const owns = await ownsGroup(identity);
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      const pid = Number(name);
      const stat = await statOf(pid);
      if (stat === null || stat.state === "Z" || pid === process.pid) return [];
      return (owns && stat.group === identity.pid) || (await hasToken(pid, identity.token)) ? [pid] : [];
    }),
  );
  return found.flat();
}

async function hasToken(pid: number, token: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return [TOKEN_NAME, TOOL_TOKEN_NAME].some((name) => environment.includes(`${name}=${token}`));
}
