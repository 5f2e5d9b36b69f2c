import type { Entry } from "#log/entry";
import { count, named, nullable, object, open, type Schema, text } from "./value-schema.ts";

const ID = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9_-])?$/;
const ID_FORM = "letters, digits, and . _ : - between them";

/** An id, as the log takes it. */
export const id: Schema<string> = text({ min: 1, max: 128, pattern: ID, about: ID_FORM });
const PAGE_MAX = 500;
export const pageLimit: Schema<number> = count({ min: 1, max: PAGE_MAX, about: "how many at most" });
export const cursor: Schema<string> = text({ min: 1, max: 1_000, about: "where the page before ended" });

/** A page says where the next one begins; null: there is none. */
export const nextCursor: Schema<string | null> = nullable(text({ max: 1_000 }));

/** In the path of most routes. */
export interface OfConversation {
  readonly conversation: string;
}

export const ofConversation: Schema<OfConversation> = object<OfConversation>({ conversation: id });

export const entry: Schema<Entry> = named(
  "Entry",
  open<Entry>({ id: text(), seq: count(), time: text(), type: text() }),
);
