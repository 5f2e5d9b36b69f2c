import type { EntryId } from "#log/ids";

/** Something a person should look at. */
export interface Issue {
  readonly kind:
    | "orphan_call"
    | "orphan_result"
    | "duplicate_result"
    | "boundary_missing"
    | "open_turn"
    | "open_run"
    | "gap"
    | "missing_blob"
    | "damage";
  readonly entry: EntryId | null;
  readonly message: string;
}
