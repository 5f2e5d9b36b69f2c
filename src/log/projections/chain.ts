import type { Entry } from "../entry.ts";

/** One upstream id the conversation has held, and the entries it carried. */
export interface Link {
  readonly id: string;
  readonly agent: string;
  readonly account: string | null;
  readonly reason: string;
  readonly since: string;
  readonly seq: number;
  /** The first and last entry between this link and the next; null when it carried nothing. */
  readonly carried: { readonly fromSeq: number; readonly toSeq: number } | null;
  /** Held by the source of a fork: a record, never to be resumed from here. */
  readonly inherited: boolean;
}

/**
 * Every upstream id ever held, oldest first, the head last. An id that comes back is one link again, at the head.
 * `inheritedUpTo` counts how many of the entries come from the source of a fork.
 */
export function chainOf(
  entries: Iterable<Entry>,
  isInherited: (entry: Entry) => boolean = () => false,
): readonly Link[] {
  const links: Link[] = [];
  for (const entry of entries) {
    if (entry.type === "upstream_link") {
      if (entry.upstream.trim() !== "") takeLink(links, entry, isInherited(entry));
      continue;
    }
    const head = links.at(-1);
    if (head === undefined || entry.type !== "message" || isInherited(entry) !== head.inherited) continue;
    links[links.length - 1] = {
      ...head,
      carried: { fromSeq: head.carried?.fromSeq ?? entry.seq, toSeq: entry.seq },
    };
  }
  return links;
}

function takeLink(links: Link[], entry: Extract<Entry, { type: "upstream_link" }>, inherited: boolean): void {
  const head = links.at(-1);
  if (head?.id === entry.upstream && head.agent === entry.agent && head.inherited === inherited) return;
  const before = links.findIndex(
    (link) => link.id === entry.upstream && link.agent === entry.agent && link.inherited === inherited,
  );
  const [back] = before === -1 ? [] : links.splice(before, 1);
  links.push({
    id: entry.upstream,
    agent: entry.agent,
    account: entry.account ?? null,
    reason: entry.reason,
    since: entry.time,
    seq: entry.seq,
    carried: back?.carried ?? null,
    inherited,
  });
}
