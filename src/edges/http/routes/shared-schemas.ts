import type { AppendResult } from "#log/batch";
import type { Entry } from "#log/entry";
import type { ContentBlock } from "#log/message";
import {
  anything,
  count,
  either,
  flag,
  list,
  named,
  nullable,
  object,
  open,
  record,
  type Schema,
  text,
} from "./value-schema.ts";

const ID = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9_-])?$/;
const ID_FORM = "letters, digits, and . _ : - between them";

/** An id, as the log takes it. */
export const id: Schema<string> = text({ min: 1, max: 128, pattern: ID, about: ID_FORM });
export const time: Schema<string> = text({ max: 40, about: "a time in ISO 8601" });
const PAGE_MAX = 500;
export const pageLimit: Schema<number> = count({ min: 1, max: PAGE_MAX, about: "how many at most" });
export const cursor: Schema<string> = text({ min: 1, max: 1_000, about: "where the page before ended" });

/** A page says where the next one begins; null: there is none. */
export const nextCursor: Schema<string | null> = nullable(text({ max: 1_000 }));

/** In the path of most routes. */
export interface OfConversation {
  readonly conversation: string;
}

export interface OfEntry extends OfConversation {
  readonly entry: string;
}

export const ofConversation: Schema<OfConversation> = object<OfConversation>({ conversation: id });
export const ofEntry: Schema<OfEntry> = object<OfEntry>({ conversation: id, entry: id });

export const entry: Schema<Entry> = named(
  "Entry",
  open<Entry>({ id: text(), seq: count(), time: text(), type: text() }),
);

/** An entry that a client sends; the log checks the rest of it. */
export const newEntry: Schema<object> = named("NewEntry", open<object>({ type: text() }));

/** What an append left in the log. */
type Written = Omit<AppendResult, "ownerLink"> & OfConversation;

export const written: Schema<Written> = named(
  "Written",
  open<Written>({
    conversation: text(),
    fromSeq: count(),
    toSeq: count(),
    lastId: text(),
    ids: list(text()),
    deduped: flag("the key was known: nothing was written, and this is what is stored under it"),
    differs: flag("the key was known with another body; the stored one stands"),
  }),
);

/** A prompt: as words, or as blocks. */
export const content: Schema<string | readonly ContentBlock[]> = either<string | readonly ContentBlock[]>(
  text({ min: 1, max: 10_000_000 }),
  list(open<ContentBlock>({ type: text() }), { min: 1, max: 1_000 }),
);

export const jsonMembers: Schema<{ readonly [name: string]: unknown }> = record(anything());
