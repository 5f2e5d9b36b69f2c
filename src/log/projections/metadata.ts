import type { Entry, EntryOf, Metadata } from "#log/entry";

/** What a conversation is filed under now, from its `metadata` facts, oldest first. */
export function metadataOf(entries: Iterable<Entry>): Metadata {
  let known: Metadata = {};
  for (const entry of entries) if (entry.type === "metadata") known = changeMetadata(known, entry.metadata);
  return known;
}

/** Whoever writes one member leaves the others alone; so two that write at once do not undo each other. */
export function changeMetadata(known: Metadata, change: EntryOf<"metadata">["metadata"]): Metadata {
  const merged = { ...known, ...change };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}
