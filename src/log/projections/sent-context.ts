import type { Bodies, Entry, Fidelity, PriorContextCounts } from "#log/entry";

/** How much of the earlier conversation an attempt sent to its agent session. Format 1 calls the member `told`. */
export function priorContextOf(attempt: Bodies["attempt"]): PriorContextCounts | undefined {
  return attempt.priorContext ?? (attempt as { readonly told?: PriorContextCounts }).told;
}

/** What the agent session of the last attempt was sent of the conversation before it. */
export interface SentContext {
  readonly upstream: string;
  readonly agent: string | null;
  /** How it came to know the conversation when it was first asked. */
  readonly fidelity: Fidelity | null;
  /** What it was sent last; null when it was sent nothing. */
  readonly priorContext: PriorContextCounts | null;
}

/** From links and attempts, oldest first; null where no agent session was asked. */
export function lastSent(entries: readonly Entry[]): SentContext | null {
  const last = entries.findLast((entry) => entry.type === "attempt" && entry.upstream !== undefined);
  const upstream = last?.type === "attempt" ? last.upstream : undefined;
  if (upstream === undefined) return null;
  const link = entries.findLast((entry) => entry.type === "upstream_link" && entry.upstream === upstream);
  const attempts = entries.flatMap((entry) =>
    entry.type === "attempt" && entry.upstream === upstream ? [entry] : [],
  );
  const sent = attempts.findLast((attempt) => priorContextOf(attempt) !== undefined);
  return {
    upstream,
    agent: link?.type === "upstream_link" ? link.agent : null,
    fidelity: (sent ?? attempts[0])?.fidelity ?? null,
    priorContext: (sent && priorContextOf(sent)) ?? null,
  };
}
