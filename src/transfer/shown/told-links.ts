import type { Entry, Fidelity } from "#log/entry";
import type { Link } from "#log/projections/chain";

/** A chain's links, and how each came to know the conversation when it was first asked. */
export type ToldLink = Link & { readonly fidelity: Fidelity | null };

/** The attempts say it: the first one a link carried, before the next link. */
export function withFidelity(links: readonly Link[], attempts: readonly Entry[]): readonly ToldLink[] {
  return links.map((link, index) => {
    const next = links.slice(index + 1).find(({ inherited }) => inherited === link.inherited);
    const first = attempts.find(
      (entry) =>
        entry.type === "attempt" &&
        !link.inherited &&
        entry.upstream === link.id &&
        entry.seq > link.seq &&
        entry.seq < (next?.seq ?? Number.POSITIVE_INFINITY),
    );
    return { ...link, fidelity: first?.type === "attempt" ? (first.fidelity ?? null) : null };
  });
}
