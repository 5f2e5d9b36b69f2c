import type { StampedDraft } from "#log/batch";
import { entryDigest } from "#log/batch-links";
import { sha256 } from "#store/sha256";
import { type Packed, packText, PAYLOAD_CHARS_INLINE } from "#stores/sqlite/tables/blob-rows";

/** A large payload, compressed, and its entry's digest. */
interface PackedDraft {
  readonly digest: string;
  readonly blob: Packed;
}

/** One per draft, undefined where its payload stays in its row. */
export type PackedDrafts = readonly (PackedDraft | undefined)[];

export function packDrafts(drafts: readonly StampedDraft[]): PackedDrafts {
  return drafts.map(({ draft: { type, payload }, id, time }) =>
    payload.length > PAYLOAD_CHARS_INLINE
      ? { digest: entryDigest(sha256, { id, time, type, payload }), blob: packText(payload) }
      : undefined,
  );
}
