import type { Entry, FactBodies } from "#log/entry";
import type { LinkRecord } from "#log/projections/link-records";

export type Parked = NonNullable<FactBodies["turn_end"]["parked"]>[number];

interface Agent {
  readonly agent: string;
  readonly account: string | null;
}

/**
 * Until when an agent asked to be left alone, by the last turn that concerned it; null when that turn said nothing of
 * the kind. Whether the moment has passed is for whoever has a clock.
 */
export function parkedUntil(
  facts: readonly Entry[],
  records: readonly LinkRecord[],
  who: Agent,
): string | null {
  const mine = new Set(records.filter((record) => isSame(record, who)).map((record) => record.upstream));
  for (const fact of facts.toReversed()) {
    if (fact.type !== "turn_end") continue;
    const parked = fact.parked?.findLast((one) =>
      isSame({ agent: one.agent, account: one.account ?? null }, who),
    );
    if (parked !== undefined) return parked.resetAt;
    if (fact.upstream !== undefined && mine.has(fact.upstream)) return null;
  }
  return null;
}

function isSame(one: Agent, other: Agent): boolean {
  return one.agent === other.agent && one.account === other.account;
}
