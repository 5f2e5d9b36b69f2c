import type { Entry, EntryOf } from "#log/entry";
import { reasonText } from "#operations/text";

/** Which sessions carried a conversation, as a reader comes across them. */
export class SessionNotes {
  readonly #links: readonly EntryOf<"upstream_link">[];

  constructor(facts: readonly Entry[]) {
    this.#links = facts.filter((fact) => fact.type === "upstream_link");
  }

  /** Who carried an entry: the agent of the latest link before it; null when none had been made. */
  agentAt(seq: number): string | null {
    return this.#links.findLast((link) => link.seq < seq)?.agent ?? null;
  }

  /** What there is to say between two entries: that another session took the place of the one before. */
  between(after: number, upTo: number): string | null {
    const link = this.#links.findLast(({ seq }) => seq > after && seq < upTo);
    if (link === undefined || link === this.#links[0]) return null;
    return `another session of ${link.agent}: ${reasonText(link.reason)}`;
  }
}
