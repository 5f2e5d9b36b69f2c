import type { Draft } from "./body.ts";
import type { Entry, StoredEntry } from "./entry.ts";
import type { Head, EntryPosition, Lease, Place, SettingPlaces, Tip } from "./lineage/head.ts";
import type { EntryId } from "./ids.ts";
import { summaryChange } from "./entry-types.ts";
import type { SummaryChange } from "./summary.ts";

/** Who writes. Only an owner adds nodes and moves the leaf; anyone may add facts that the table of entry types says so of. */
export type Author =
  | {
      readonly kind: "owner";
      readonly epoch: number;
      readonly expected: number;
      /** The link of the last batch of an owner that it knows: a log that has another there has forgotten something. */
      readonly link?: string | null;
      /** The lease ends with this batch. */
      readonly releases?: boolean;
    }
  | { readonly kind: "once"; readonly expected?: number }
  | { readonly kind: "outside" };

export const BATCH_ENTRIES_MAX = 10_000; // an import splits; a turn never comes near

export interface StampedDraft {
  readonly draft: Draft;
  readonly id: EntryId;
  readonly time: string;
  /** Its change of the summary that lists show, computed where the body is, so that a store's thread needs no body. */
  readonly summaryChange: SummaryChange | null;
}

/** A draft with its id, its time and what is derived from its text. */
export function stampDraft(draft: Draft, { id, time }: Pick<StampedDraft, "id" | "time">): StampedDraft {
  return { draft, id, time, summaryChange: summaryChange(draft.type, draft.body, time) };
}

/** Bodies ready to be written: ids and times made, and the digest of what the caller gave. */
export interface Batch {
  readonly author: Author;
  readonly key: string | null;
  readonly digest: string;
  readonly drafts: readonly StampedDraft[];
}

/** What an append left in the log. */
export interface Appended {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly lastId: EntryId;
}

export interface AppendResult extends Appended {
  readonly ids: readonly EntryId[];
  /** The key was known: nothing was written and the stored range is returned. */
  readonly deduped: boolean;
  /** The key was known with another body; the stored one wins. */
  readonly differs: boolean;
  /** The link of the last batch of an owner, as it is now; null in a log from before there were links. */
  readonly ownerLink: string | null;
}

/** An entry as a plan leaves it: everything but its seq, of which only the distance to the batch's first is known. */
export interface PlannedEntry extends Omit<StoredEntry, "seq"> {
  readonly offset: number;
  readonly place: Place | null;
  readonly target: EntryPosition | null;
}

/** What a store looks up, in its transaction or before its compare-and-set, for the rules to decide on. */
export interface AppendState {
  readonly head: Tip & Pick<Head, "epoch" | "ownerSeq" | "headSeq" | "ownerLink" | "summary">;
  readonly lease: Lease | null;
  readonly nowMs: number;
  /** The earlier append under this key, with its digest. */
  readonly seen: (Appended & { readonly digest: string }) | null;
  /** Every entry of `refsOf(batch)` that exists for this conversation. */
  readonly positions: ReadonlyMap<EntryId, EntryPosition>;
  /** For each of `parentsOf(head, drafts)`: where the settings that hold at it lie. */
  readonly settings: ReadonlyMap<EntryId, SettingPlaces>;
  /** The nodes asked for by `tailReads`, newest first, by compaction; absent when the first kept one is off the path. */
  readonly tails: ReadonlyMap<EntryId, readonly Entry[]>;
}
