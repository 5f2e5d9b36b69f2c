import { setTimeout as pause } from "node:timers/promises";

const WAIT_MS = 150_000; // far beyond what anything takes, so that only a hang meets it
const POLL_MS = 10;

/** For what shows in files and processes only, where nobody tells us of a change. */
export async function eventually(what: string, holds: () => boolean): Promise<void> {
  const late = AbortSignal.timeout(WAIT_MS);
  while (!holds()) {
    if (late.aborted) throw new Error(`Waited in vain: ${what}`);
    await pause(POLL_MS);
  }
}
