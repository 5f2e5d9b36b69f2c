import type { AppendRequest } from "#store/requests";

/** What an append of a turn is, by what it says. */
const APPENDS = [
  "accept",
  "attempt",
  "words",
  "answer",
  "intent",
  "outcome",
  "steer",
  "delivery",
  "question",
  "reply",
  "summary",
  "end",
] as const;
type AppendName = (typeof APPENDS)[number];

/** Where a process is killed: before an append is made or once it is durable, or at another point of its work. */
export type KillSite =
  | `${AppendName}/${"before" | "after"}`
  /** Between the durable intent and the act. */
  | "act/before"
  /** The tool has done its work and its outcome is not written. */
  | "act/after"
  /** An answer has begun to stream. */
  | "stream"
  /** A summary has been asked for. */
  | "summary/asked"
  /** The turn is parked, and its process idle. */
  | "parked"
  /** The turn waits for the host's word, and its process holds the conversation. */
  | "asking";

export const KILL_SITES: readonly KillSite[] = [
  ...APPENDS.flatMap((name): KillSite[] => [`${name}/before`, `${name}/after`]),
  "act/before",
  "act/after",
  "stream",
  "summary/asked",
  "parked",
  "asking",
];

export function appendName({ drafts }: AppendRequest): AppendName | null {
  const types = new Set<string>(drafts.map(({ draft }) => draft.type));
  if (types.has("turn_start")) return "accept";
  if (types.has("turn_end")) return "end";
  if (types.has("attempt")) return "attempt";
  if (types.has("update")) return "words";
  if (types.has("tool_intent")) return "intent";
  if (types.has("compaction")) return "summary";
  if (types.has("permission")) return "question";
  if (types.has("permission_answer")) return "reply";
  if (types.has("steer")) return types.has("message") ? "delivery" : "steer";
  const texts = drafts.map(({ draft }) => draft.payload);
  if (texts.some((text) => text.includes('"role":"toolResult"'))) return "outcome";
  return texts.some((text) => text.includes('"role":"assistant"')) ? "answer" : null;
}
