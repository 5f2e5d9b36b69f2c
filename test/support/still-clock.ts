import type { Clock } from "#conversation/clock";

/** Time stands still: what waits for it waits until it is told to stop, however slow the machine is. */
export const stillClock: Clock = {
  nowMs: () => Date.parse("2026-01-01T00:00:00Z"),
  steadyMs: () => 0,
  async sleep(_, signal) {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  },
};
