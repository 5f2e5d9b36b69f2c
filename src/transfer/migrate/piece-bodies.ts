import type { EntryBody } from "#log/entry";
import { type BlobPlace, storeImages } from "#transfer/messages/images";
import { bodiesOf } from "#transfer/migrate/rules/run-bodies";
import type { SourcePiece } from "./migration-source.ts";
import { type ReadyPiece, readyPiece } from "./ready-pieces.ts";

/** A piece as an app has it at hand: its key and its messages; the rest where it is known. */
export type PieceToWrite = Pick<SourcePiece, "key" | "messages"> & Partial<SourcePiece>;

/**
 * The entries that a migration makes of a piece, for an app that writes both sides: appended under the piece's key they are what
 * `verifyMigration` expects, and `migrateInto` brings them no second time.
 */
export async function pieceBodies(
  place: Pick<BlobPlace, "putBlob">,
  piece: PieceToWrite,
): Promise<readonly EntryBody[]> {
  const { time = null, shape = null, place: where = piece.key } = piece;
  return storedBodies(readyPiece({ ...piece, time, shape, place: where }), place);
}

/** The same of a piece that is ready, with the bytes of its images kept as blobs. */
export async function storedBodies(
  piece: ReadyPiece,
  place: Pick<BlobPlace, "putBlob">,
): Promise<readonly EntryBody[]> {
  const items = [];
  for (const item of piece.items) items.push({ ...item, messages: await storeImages(item.messages, place) });
  return bodiesOf({ ...piece, items });
}
