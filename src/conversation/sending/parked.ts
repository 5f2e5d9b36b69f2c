import type { Entry } from "../../log/entry.ts";
import { type Parked, parkedUntil } from "../../log/sending/parking.ts";
import { linkRecords } from "../../log/sending/proof.ts";
import type { Owner } from "../owner.ts";
import { emit, type TurnGround } from "./turn-ground.ts";
import type { TurnResult } from "./turn.ts";
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
  const message = `The agent is limited until ${new Date(resetAtMs).toISOString()}; the prompt is kept`;
  return { message, resetAtMs };
}

/** The prompt is in the log and nothing was sent. */
export async function stayParked(
  owner: Owner,
  at: Pick<TurnGround, "host" | "conversation" | "turn" | "prompt">,
  parked: readonly Parked[],
): Promise<TurnResult> {
  const { turn, prompt } = at;
  const { message, resetAtMs } = firstReset(parked);
  const resetAt = new Date(resetAtMs).toISOString();
  await owner.append({ type: "turn_end", turn, outcome: "failed", class: "limit", resetAt, parked });
  emit(at, null, { type: "parked", class: "limit", resetAtMs, message });
  emit(at, null, { type: "ended", outcome: "failed", class: "limit" });
  const failed = { outcome: "failed", class: "limit", text: "", upstream: null, end: null } as const;
  return { turn, prompt, ...failed, resetAtMs, message };
}

/** The agent as it is parked until then; nothing when it did not say when it is free again. */
export function parkedBy(upstream: Upstream, resetAtMs: number | null): readonly Parked[] {
  if (resetAtMs === null) return [];
  const account = upstream.account === null ? {} : { account: upstream.account };
  return [{ agent: upstream.agent, ...account, resetAt: new Date(resetAtMs).toISOString() }];
}
