import type { Entry, EntryOf } from "#log/entry";
import type { EntryId } from "#log/ids";

/** What the log says about one upstream id, from its links, attempts and ends of turns. */
export interface LinkRecord {
  readonly upstream: string;
  /** The ids it had: its own, and those before it changed them itself. */
  readonly names: readonly string[];
  readonly agent: string;
  readonly account: string | null;
  /** Where its first link stands in the log. */
  readonly firstSeq: number;
  /** The prompt of the first turn it was sent: what it knows from us begins there. */
  readonly since: EntryId | null;
  /** It did not begin empty: it was forked, restored, or was another id before. */
  readonly continues: boolean;
  /** The last node it was given or gave; null: it was made and never used. */
  readonly lastNode: EntryId | null;
  /** It holds everything on the path up to this node, or was sent it in a preamble; null: unknown. */
  readonly knownUpTo: EntryId | null;
  /** A turn that was sent to it did not complete, so how much of that turn it holds is unknown. */
  readonly uncertain: boolean;
  /** Its last turn was cut off, so that it may have something left to say. */
  readonly cutOff: boolean;
  /** How many turns it failed with an unknown error since its last answer. */
  readonly failures: number;
  /** It answered something once, so losing it loses something. */
  readonly answered: boolean;
  /** Why it is unusable for good: signed out, dropped, or replaced after it proved bad; null while it is not. */
  readonly retired: string | null;
}

interface LinkFold {
  readonly records: Map<string, LinkRecord>;
  readonly prompts: Map<string, EntryId>;
  /** The prompt being worked on, while a turn is open. */
  prompt: EntryId | null;
  /** Who was asked last. */
  latestUpstream: string | null;
}

/** The records of every upstream id, oldest first, the one linked last at the end. */
export function linkRecords(entries: Iterable<Entry>): readonly LinkRecord[] {
  const reading: LinkFold = { records: new Map(), prompts: new Map(), prompt: null, latestUpstream: null };
  for (const entry of entries) {
    if (entry.type === "turn_start") {
      reading.prompt = entry.prompt ?? null;
      if (entry.prompt !== undefined) reading.prompts.set(entry.turn, entry.prompt);
    } else if (entry.type === "upstream_link") addLink(reading, entry);
    else if (entry.type === "attempt") addAttempt(reading, entry);
    else if (entry.type === "turn_end") endTurn(reading, entry);
    else if (entry.type === "upstream_end")
      update(reading, entry.upstream, () => ({ retired: entry.reason }));
  }
  return [...reading.records.values()];
}

/** A link made in the middle of a turn holds that turn's prompt already, or is about to. */
function addLink(reading: LinkFold, entry: EntryOf<"upstream_link">): void {
  const { records, prompt } = reading;
  if (entry.upstream.trim() === "") return;
  const renamed = entry.reason === "renamed_by_upstream";
  const before = renamed ? records.get(reading.latestUpstream ?? "") : undefined;
  const isInTurn = renamed || entry.reason === "rolled_by_upstream";
  if (isInTurn) reading.latestUpstream = entry.upstream;
  const record = records.get(entry.upstream);
  records.delete(entry.upstream);
  const fresh = {
    names: [...(before?.names ?? []), entry.upstream],
    since: before?.since ?? prompt,
    continues: entry.node !== undefined || renamed,
    lastNode: prompt,
    knownUpTo: before?.knownUpTo ?? null,
    uncertain: prompt !== null,
    cutOff: isInTurn,
    answered: before?.answered ?? false,
    // The failure of the turn that it was opened in says nothing new: an agent that always fails gets a new session for
    // every second prompt, not for each.
    failures: entry.reason === "failed" ? -1 : (before?.failures ?? 0),
    retired: null,
    firstSeq: entry.seq,
  };
  const { node } = entry;
  const change = node === undefined ? {} : { lastNode: node, knownUpTo: node, answered: true };
  const { upstream, agent, account = null } = entry;
  records.set(upstream, { ...fresh, ...record, ...change, upstream, agent, account });
}

/** From here on the upstream may hold the prompt, whatever becomes of the turn. */
function addAttempt(reading: LinkFold, entry: EntryOf<"attempt">): void {
  if (entry.upstream === undefined) return;
  const prompt = reading.prompts.get(entry.turn) ?? null;
  reading.latestUpstream = entry.upstream;
  update(reading, entry.upstream, (record) => ({
    since: record.since ?? prompt,
    lastNode: prompt ?? record.lastNode,
    uncertain: true,
    cutOff: true,
  }));
}

function endTurn(reading: LinkFold, entry: EntryOf<"turn_end">): void {
  reading.prompt = null;
  const { upstream, node } = entry;
  if (upstream === undefined || node === undefined) return;
  const prompt = reading.prompts.get(entry.turn) ?? null;
  const certain = isCertain(entry, prompt);
  const completed = certain && entry.outcome === "completed";
  update(reading, upstream, (record) => ({
    since: record.since ?? prompt,
    lastNode: node,
    knownUpTo: entry.held === undefined ? (certain ? node : record.knownUpTo) : entry.held,
    uncertain: !certain,
    cutOff: !completed,
    failures: certain ? 0 : record.failures + (entry.class === "failed" ? 1 : 0),
    answered: record.answered || completed || node !== prompt,
  }));
}

type End = Pick<EntryOf<"turn_end">, "outcome" | "class" | "held"> & { readonly node?: string };

/**
 * Whether the agent ended the turn in a way that leaves no doubt about what its session holds of it: it answered, or it
 * had begun to and stopped when it was asked to. A session that did not stop in time is retired.
 */
export function isCertain(end: End, prompt: EntryId | null): boolean {
  if (end.held !== undefined) return false;
  if (end.outcome === "completed") return end.class !== "empty";
  return end.outcome === "interrupted" && end.class === "cancelled" && end.node !== prompt;
}

function update(
  reading: LinkFold,
  upstream: string,
  change: (record: LinkRecord) => Partial<LinkRecord>,
): void {
  const record = reading.records.get(upstream);
  if (record !== undefined) reading.records.set(upstream, { ...record, ...change(record) });
}
