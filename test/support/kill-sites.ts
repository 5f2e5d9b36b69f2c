import type { AppendRequest } from "#store/requests";

/**
 * Where a process is killed, by what is going on there: before an append is made or once it is durable (`appendName`), or at
 * another point of its work.
 */
const KINDS = {
  asked: [
    "accept/before",
    "accept/after",
    "attempt/before",
    "attempt/after",
    "words/before",
    "words/after",
    /** An answer has begun to stream. */
    "stream",
    "answer/before",
  ],
  beforeIntent: ["answer/after", "intent/before"],
  inTool: [
    "intent/after",
    /** Between the durable intent and the act. */
    "act/before",
    /** The tool has done its work and its outcome is not written. */
    "act/after",
    "outcome/before",
  ],
  afterOutcome: ["outcome/after"],
  steered: ["steer/before", "steer/after", "delivery/before", "delivery/after"],
  approval: [
    "question/before",
    "question/after",
    /** The turn waits for the host's word, and its process holds the conversation. */
    "asking",
    /** The turn is parked, and its process idle. */
    "parked",
    "reply/before",
    "reply/after",
  ],
  compaction: [
    /** A summary has been asked for. */
    "summary/asked",
    "summary/before",
    "summary/after",
  ],
  ended: ["end/before", "end/after"],
} as const;

export type KillSite = (typeof KINDS)[keyof typeof KINDS][number];

export const KILL_SITES: readonly KillSite[] = Object.values(KINDS).flat();

/** A few kills: every site at least once, and each kind at least once in each of the places, by turns. */
export function sampleOfKills<P>(
  places: readonly P[],
): readonly { readonly site: KillSite; readonly place: P }[] {
  return Object.values<readonly KillSite[]>(KINDS).flatMap((sites) =>
    Array.from({ length: Math.max(sites.length, places.length) }, (_, nth) => ({
      site: at(sites, nth),
      place: at(places, nth),
    })),
  );
}

function at<T>(list: readonly T[], nth: number): T {
  const one = list[nth % list.length];
  if (one === undefined) throw new Error("an empty list");
  return one;
}

/** What an append of a turn is, by what it says. */
export function appendName({ drafts }: AppendRequest): string | null {
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
