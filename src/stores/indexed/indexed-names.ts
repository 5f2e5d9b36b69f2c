import { findVisible } from "#log/lineage/lineage";
import type { StoredEntry } from "#log/entry";
import type { EntryId } from "#log/ids";
import type { LogWithSources } from "./indexed-lineage.ts";
import type { IndexedLog } from "./indexed-log.ts";
import type { IdsRequest, LabelRequest } from "#store/requests";

/** The visible nodes whose id starts and ends so. */
export function nodeIds(
  { indexes, log }: LogWithSources,
  { prefix, suffix = "", limit }: IdsRequest,
): readonly EntryId[] {
  const found = new Set<EntryId>();
  for (const index of indexes.values())
    for (const id of index.idsStarting(prefix)) {
      if (found.size >= limit) return [...found];
      if (id.endsWith(suffix) && findVisible(indexes, log.conversation, id) !== undefined) found.add(id);
    }
  return [...found];
}

/** The label facts about every node that was given a label, those of the oldest log first. */
export async function labelFacts(
  { log, logs }: LogWithSources,
  { label, limit }: LabelRequest,
): Promise<readonly StoredEntry[] | null> {
  const levels: { log: IndexedLog; upTo: number }[] = [];
  let upTo = Number.POSITIVE_INFINITY;
  // Above an erased log nothing that is said about nodes is inherited.
  for (let at: IndexedLog | undefined = log; at !== undefined && !at.erased;) {
    levels.unshift({ log: at, upTo });
    const { origin }: IndexedLog["index"]["head"] = at.index.head;
    upTo = origin?.head ?? 0;
    at = origin === null ? undefined : logs.get(origin.source);
  }
  const nodes = new Set<EntryId>();
  for (const level of levels)
    for (const node of level.log.index.nodesLabelled(label, level.upTo)) nodes.add(node);
  if (nodes.size > limit) return null;
  const facts: StoredEntry[] = [];
  for (const level of nodes.size === 0 ? [] : levels) {
    const said = [...nodes].flatMap((node) => level.log.index.labelsOf(node));
    const seqs = said.filter((seq) => seq <= level.upTo).toSorted((a, b) => a - b);
    if (seqs.length > 0) facts.push(...(await level.log.fetch(seqs)));
  }
  return facts;
}
