import type { Entry, Fidelity, ToldContext } from "#log/entry";

/** What the upstream that was asked last was given of what came before it. */
export interface Given {
  readonly upstream: string;
  readonly agent: string | null;
  /** How it came to know the conversation when it was first asked. */
  readonly fidelity: Fidelity | null;
  /** What it was told last; null when it was told nothing. */
  readonly told: ToldContext | null;
}

/** Told from links and attempts, oldest first; null when nobody was asked. */
export function givenOf(entries: readonly Entry[]): Given | null {
  const last = entries.findLast((entry) => entry.type === "attempt" && entry.upstream !== undefined);
  const upstream = last?.type === "attempt" ? last.upstream : undefined;
  if (upstream === undefined) return null;
  const link = entries.findLast((entry) => entry.type === "upstream_link" && entry.upstream === upstream);
  const attempts = entries.flatMap((entry) =>
    entry.type === "attempt" && entry.upstream === upstream ? [entry] : [],
  );
  const teller = attempts.findLast(({ told }) => told !== undefined);
  return {
    upstream,
    agent: link?.type === "upstream_link" ? link.agent : null,
    fidelity: (teller ?? attempts[0])?.fidelity ?? null,
    told: teller?.told ?? null,
  };
}
