/** Longer than anything takes on the busiest machine: only a hang meets it. */
export const HANG_MS = 150_000;
