import type { Entry, EntryOf, Fidelity, PriorContextCounts } from "#log/entry";
import { priorContextOf } from "#log/projections/sent-context";
import type { Chain, Link } from "#log/projections/chain";

/** A chain's links, and how each came to know the conversation when it was first asked. */
export type LinkWithFidelity = Link & { readonly fidelity: Fidelity | null };

/** What else is known of a link. */
export interface LinkDetails {
  /** How many messages it was given or gave. */
  readonly messages: number;
  /** What it was sent of what came before it, with its first prompt. */
  readonly priorContext: PriorContextCounts | null;
  /** The recorded end of the session and its reason; null if none is recorded. */
  readonly ended: { readonly reason: string; readonly time: string } | null;
}

/** The attempts say it: the first one a link carried, before the next link. */
export function withFidelity(
  links: readonly Link[],
  attempts: readonly Entry[],
): readonly LinkWithFidelity[] {
  return links.map((link, index) => {
    const first = spellOf(links, index, attempts).find((entry) => entry.type === "attempt");
    return { ...link, fidelity: first?.type === "attempt" ? (first.fidelity ?? null) : null };
  });
}

/** `facts`: its attempts and ends of upstream sessions. In the order of the links. */
export function linkDetails({ links, carriers }: Chain, facts: readonly Entry[]): readonly LinkDetails[] {
  const messages = new Map<Link, number>();
  for (const messageLinks of carriers.values())
    for (const link of new Set(messageLinks)) messages.set(link, (messages.get(link) ?? 0) + 1);
  return links.map((link, index) => {
    const spell = spellOf(links, index, facts);
    const first = spell.find((entry) => entry.type === "attempt");
    const end = spell.findLast((entry) => entry.type === "upstream_end");
    return {
      messages: messages.get(link) ?? 0,
      priorContext: first?.type === "attempt" ? (priorContextOf(first) ?? null) : null,
      ended: end?.type === "upstream_end" ? { reason: end.reason, time: end.time } : null,
    };
  });
}

type OfUpstream = EntryOf<"attempt"> | EntryOf<"upstream_end">;

/** Returns the facts about a session between its link and the next. Facts of other logs are not read. */
function spellOf(links: readonly Link[], index: number, facts: readonly Entry[]): readonly OfUpstream[] {
  const link = links[index];
  if (link === undefined || link.inherited) return [];
  const next = links.slice(index + 1).find(({ inherited }) => !inherited);
  const until = next?.seq ?? Number.POSITIVE_INFINITY;
  return facts.flatMap((entry) =>
    (entry.type === "attempt" || entry.type === "upstream_end") &&
    entry.upstream === link.id &&
    entry.seq > link.seq &&
    entry.seq < until
      ? [entry]
      : [],
  );
}
