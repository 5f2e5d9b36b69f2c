import type { Entry, EntryBody } from "#log/entry";
import type { EntryId } from "#log/ids";
import { type Parked, parkedUntil } from "#turn/rules/ending";
import { linkRecords } from "#log/projections/link-records";
import type { Work } from "./turn-parts.ts";
import { emit } from "#turn/host";
import type { SendResult } from "./finish-turn.ts";
import type { Upstream } from "./upstream.ts";

/** The agents that may be asked now, and those that asked to be left alone until later. */
export function freeAgents(
  upstreams: readonly Upstream[],
  facts: readonly Entry[],
  nowMs: number,
): { readonly free: readonly Upstream[]; readonly parked: readonly Parked[] } {
  const records = linkRecords(facts);
  const free: Upstream[] = [];
  const parked: Parked[] = [];
  for (const upstream of upstreams) {
    const { agent, account } = upstream;
    const resetAt = parkedUntil(facts, records, upstream);
    if (resetAt === null || Date.parse(resetAt) <= nowMs) free.push(upstream);
    else parked.push({ agent, ...(account === null ? {} : { account }), resetAt });
  }
  return { free, parked };
}

/** When the first of them is free again. */
export function firstReset(parked: readonly Parked[]): {
  readonly message: string;
  readonly resetAtMs: number;
} {
  const resetAtMs = Math.min(...parked.map((one) => Date.parse(one.resetAt)));
  const message = `The agent's limit resets at ${new Date(resetAtMs).toISOString()}. The prompt is saved.`;
  return { message, resetAtMs };
}

interface TurnedAway {
  readonly turn: string;
  readonly id: EntryId;
  /** Where the branch stood before; null when the prompt lay on it already. */
  readonly back: EntryId | null;
  /** What was typed before and went into the log with it. */
  readonly steers: readonly EntryBody[];
}

/**
 * Nothing was sent. The prompt is in the log, beside the branch: `retry` takes it up, and whatever else is said next does
 * not find it unanswered. What was to go out in front of it waits on.
 */
export async function turnAway(work: Work, at: TurnedAway, parked: readonly Parked[]): Promise<SendResult> {
  const { turn, id: prompt, back, steers } = at;
  const { message, resetAtMs } = firstReset(parked);
  const resetAt = new Date(resetAtMs).toISOString();
  const end: EntryBody = { type: "turn_end", turn, outcome: "failed", class: "limit", resetAt, parked };
  const leave: readonly EntryBody[] = back === null ? [] : [{ type: "leaf", target: back }];
  await work.owner.append([end, ...leave, ...steers]);
  emit(work, null, { type: "parked", class: "limit", resetAtMs, message });
  emit(work, null, { type: "ended", outcome: "failed", class: "limit" });
  const failed = { outcome: "failed", class: "limit", text: "", upstream: null, end: null } as const;
  return { turn, prompt, ...failed, resetAtMs, message };
}

/** The agent as it is parked until then; nothing when it did not say when it is free again. */
export function parkedBy(upstream: Upstream, resetAtMs: number | null): readonly Parked[] {
  if (resetAtMs === null) return [];
  const account = upstream.account === null ? {} : { account: upstream.account };
  return [{ agent: upstream.agent, ...account, resetAt: new Date(resetAtMs).toISOString() }];
}
