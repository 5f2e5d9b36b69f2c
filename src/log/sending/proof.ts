import type { Entry, EntryOf } from "../entry.ts";
import type { EntryId } from "../ids.ts";

/** What the log says about one upstream id, from its links, attempts and ends of turns. */
export interface LinkRecord {
  readonly upstream: string;
  readonly agent: string;
  readonly account: string | null;
  /** Where its first link stands in the log. */
  readonly firstSeq: number;
  /** The prompt of the first turn it was given: what it was told begins there. */
  readonly since: EntryId | null;
  /** It did not begin empty: it was forked, restored, or was another id before. */
  readonly continues: boolean;
  /** The last node it was given or gave; null: it was made and never used. */
  readonly lastNode: EntryId | null;
  /** A turn was sent to it that did not complete, so what it holds is not known. */
  readonly uncertain: boolean;
  /** It answered something once, so losing it loses something. */
  readonly answered: boolean;
  /** Why it is unusable for good: signed out, dropped, or replaced after it proved bad; null while it is not. */
  readonly retired: string | null;
}

interface Reading {
  readonly records: Map<string, LinkRecord>;
  readonly prompts: Map<string, EntryId>;
  /** The prompt being worked on, while a turn is open. */
  prompt: EntryId | null;
}

/** The records of every upstream id, oldest first, the one linked last at the end. */
export function linkRecords(entries: Iterable<Entry>): readonly LinkRecord[] {
  const reading: Reading = { records: new Map(), prompts: new Map(), prompt: null };
  for (const entry of entries) {
    if (entry.type === "turn_start") {
      reading.prompt = entry.prompt ?? null;
      if (entry.prompt !== undefined) reading.prompts.set(entry.turn, entry.prompt);
    } else if (entry.type === "upstream_link") takeLink(reading, entry);
    else if (entry.type === "attempt") takeAttempt(reading, entry);
    else if (entry.type === "turn_end") endTurn(reading, entry);
    else if (entry.type === "upstream_end")
      update(reading, entry.upstream, () => ({ retired: entry.reason }));
  }
  return [...reading.records.values()];
}

/** A link made in the middle of a turn holds that turn's prompt already, or is about to. */
function takeLink({ records, prompt }: Reading, entry: EntryOf<"upstream_link">): void {
  if (entry.upstream.trim() === "") return;
  const known = records.get(entry.upstream);
  records.delete(entry.upstream);
  const fresh = {
    since: prompt,
    continues: entry.node !== undefined || entry.reason === "rolled_by_upstream",
    lastNode: prompt,
    uncertain: prompt !== null,
    answered: false,
    retired: null,
    firstSeq: entry.seq,
  };
  const held = entry.node === undefined ? {} : { lastNode: entry.node, answered: true };
  const { upstream, agent, account = null } = entry;
  records.set(upstream, { ...fresh, ...known, ...held, upstream, agent, account });
}

/** From here on the upstream may hold the prompt, whatever becomes of the turn. */
function takeAttempt(reading: Reading, entry: EntryOf<"attempt">): void {
  const prompt = reading.prompts.get(entry.turn) ?? null;
  update(reading, entry.upstream, (known) => ({
    since: known.since ?? prompt,
    lastNode: prompt ?? known.lastNode,
    uncertain: true,
  }));
}

function endTurn(reading: Reading, entry: EntryOf<"turn_end">): void {
  reading.prompt = null;
  const { upstream, node } = entry;
  if (upstream === undefined || node === undefined) return;
  const certain = entry.outcome === "completed" && entry.class !== "empty";
  const prompt = reading.prompts.get(entry.turn) ?? null;
  update(reading, upstream, (known) => ({
    since: known.since ?? prompt,
    lastNode: node,
    uncertain: !certain,
    answered: known.answered || certain || node !== prompt,
  }));
}

function update(
  reading: Reading,
  upstream: string,
  change: (known: LinkRecord) => Partial<LinkRecord>,
): void {
  const known = reading.records.get(upstream);
  if (known !== undefined) reading.records.set(upstream, { ...known, ...change(known) });
}

/** Where the link stands to the branch that is about to be continued. */
export interface Standing {
  /** The last node of the branch before the new prompt. */
  readonly leaf: EntryId;
  /** The link's last node lies on the branch, and no reset lies behind it. */
  readonly onBranch: boolean;
  /** Something was hidden after the link was made. */
  readonly hiddenSince: boolean;
  /** The process that completed the link's last turn is still the one that would be prompted. */
  readonly sameProcess: boolean;
  /** What the upstream showed of itself on resume agrees with the log. */
  readonly matched: boolean;
  /** The agent's table says its resume can be trusted. */
  readonly trusted: boolean;
}

/**
 * Whether a live session's process knows less than the session does by now: another process went on with it. `holds` is
 * the last node this process is known to hold; null when nothing is known of it.
 */
export function isBehind(link: LinkRecord, holds: EntryId | null): boolean {
  return holds !== null && !link.uncertain && holds !== link.lastNode;
}

/**
 * `proven`: it holds exactly this branch, nothing needs to be said again. `unproven`: it may lack something, so it is
 * given prior context. `tainted`: it holds something that must not reach the model here, so it is not used.
 */
export function proofOf(link: LinkRecord, standing: Standing): "proven" | "unproven" | "tainted" {
  if (link.lastNode === null) return "unproven";
  if (!standing.onBranch || standing.hiddenSince) return "tainted";
  if (link.lastNode !== standing.leaf || link.uncertain) return "unproven";
  return standing.sameProcess || standing.matched || standing.trusted ? "proven" : "unproven";
}
