import { LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import { bodiesOf } from "#transfer/migrate/rules/run-bodies";
import type { ReadyPiece } from "./ready-pieces.ts";

/** How many pieces are there: they were written in order, so halves are asked for. */
export async function position(
  space: SpaceStore,
  id: ConversationId,
  pieces: readonly ReadyPiece[],
): Promise<number> {
  let [low, high] = [0, pieces.length];
  for (let at = high - 1; low < high; at = (low + high) >> 1) {
    const piece = pieces[at];
    if (piece === undefined) break;
    if ((await space.findAppend(id, piece.key)) === null) high = at;
    else low = at + 1;
  }
  return low;
}

/** The log has too few entries for what is known of it: something was written there behind what was brought. */
export async function checkOrder(
  space: SpaceStore,
  id: ConversationId,
  pieces: readonly ReadyPiece[],
): Promise<void> {
  for (const { key, place } of pieces)
    if ((await space.findAppend(id, key)) === null)
      throw new LogError(
        "diverged",
        `${place}: was written there before what is here already, and came too late for its place; nothing was written`,
        { conversation: id, place },
      );
}

/** What is to be written from the next piece on: an end without messages may be there, or have no start here. */
export async function missingPieces(
  space: SpaceStore,
  id: ConversationId,
  { pieces, next }: { readonly pieces: readonly ReadyPiece[]; readonly next: number },
): Promise<readonly ReadyPiece[]> {
  const has = async (key: string): Promise<boolean> => (await space.findAppend(id, key)) !== null;
  const rest: ReadyPiece[] = [];
  for (const piece of pieces.slice(next)) {
    if (piece.items.length === 0 && (await has(piece.key))) continue;
    const start = pieces.findIndex(({ run }) => run !== undefined && run.run === piece.end?.run);
    const isBegun = start === -1 || start >= next || (await has(pieces[start]?.key ?? ""));
    if (isBegun) rest.push(piece);
  }
  return rest;
}

export function entriesIn(pieces: readonly ReadyPiece[]): number {
  return pieces.reduce((sum, piece) => sum + bodiesOf(piece).length, 0);
}
