import type { Entry, EntryOf, Metadata } from "#log/entry";

/** What a conversation is filed under now, from its `metadata` facts, oldest first. */
export function metadataOf(entries: Iterable<Entry>): Metadata {
  let metadata: Metadata = {};
  for (const entry of entries)
    if (entry.type === "metadata") metadata = changeMetadata(metadata, entry.metadata);
  return metadata;
}

/** Whoever writes one member leaves the others alone; so two that write at once do not undo each other. */
export function changeMetadata(metadata: Metadata, change: EntryOf<"metadata">["metadata"]): Metadata {
  const merged = { ...metadata, ...change };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}
