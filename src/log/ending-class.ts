/** How a prompt's journey through one upstream can end: a closed list, whatever the agent calls it. */
export const ENDING_CLASSES = [
  "completed",
  "empty",
  "limit",
  "credit",
  "overloaded",
  "auth",
  "expired",
  "lost",
  "crashed",
  "too_long",
  "poisoned",
  "stale_replay",
  "turn_limit",
  "cancelled",
  "failed",
] as const;
export type EndingClass = (typeof ENDING_CLASSES)[number];
