import { type Clock, systemClock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { SpaceCopy } from "./copy-pass.ts";
import type { CopyOptions, CopyResult } from "./copy-result.ts";

const POLL_MS = 500;
const FULL_PASS = 20; // every so many looks all logs are looked at

/**
 * Copies a space into a space of the same or another store: conversations entry by entry with their links, forks as forks,
 * what is remembered, blobs. It may be cut off anywhere and run again, and writes nothing twice. The source is only read.
 */
export async function copySpace(
  from: Holdfast,
  to: Holdfast,
  options: CopyOptions = {},
): Promise<CopyResult> {
  return new SpaceCopy(from, to, options).pass(true);
}

export interface FollowOptions extends CopyOptions {
  readonly signal: AbortSignal;
  /** Everything that was there is copied; from now on it is what comes. */
  readonly onCaughtUp?: () => void;
  /** Between two looks for what was appended. */
  readonly pollMs?: number;
  /** By which it waits; real time unless given. */
  readonly clock?: Pick<Clock, "sleep">;
}

/** The same, and goes on with what is appended, until the signal fires. */
export async function followSpace(from: Holdfast, to: Holdfast, options: FollowOptions): Promise<CopyResult> {
  const { signal, pollMs = POLL_MS, clock = systemClock } = options;
  const copy = new SpaceCopy(from, to, options);
  await copy.pass(true);
  options.onCaughtUp?.();
  for (let pass = 1; !signal.aborted; pass++) {
    await clock.sleep(pollMs, signal);
    // Lists show what was changed last first; a log that was brought in with times of its own may stand further down.
    await copy.pass(pass % FULL_PASS === 0);
  }
  return copy.result();
}
