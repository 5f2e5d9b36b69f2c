import type { Entry, EntryType } from "#log/entry";

/** A state that follows from the entries of a log in their order: the same entries give the same state. */
export interface Projection<State> {
  /** The types of entries that change the state; absent: every type. */
  readonly types?: readonly EntryType[];
  start(): State;
  /** The state with the next entry, which may be the same object; null: it can't be extended by this entry. */
  add(state: State, entry: Entry): State | null;
}

/** The projection of a reader that takes every entry. */
export function projectionBy<Reader extends { add(entry: Entry): void }>(
  start: () => Reader,
  types?: readonly EntryType[],
): Projection<Reader> {
  const add = (reader: Reader, entry: Entry): Reader => {
    reader.add(entry);
    return reader;
  };
  return { start, add, ...(types === undefined ? {} : { types }) };
}
