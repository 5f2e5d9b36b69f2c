import type { EntryId } from "#log/ids";
import { hiddenBy } from "#log/lineage/lineage";
import type { Lookup } from "#stores/sqlite/tables/lookup";
import type { EntryRow } from "#stores/sqlite/tables/rows";

const HIDES =
  "SELECT holder, target, hidden FROM hides WHERE conversation = ? AND depth BETWEEN ? AND ? AND seq <= ? ORDER BY seq";
const LAST_HIDE = `SELECT hidden FROM hides WHERE conversation = ? AND depth = ? AND holder = ? AND target = ? ORDER BY seq DESC LIMIT 1`;
const NONE: ReadonlySet<EntryId> = new Set();

type Hide = readonly [holder: number, target: EntryId, hidden: number];

/** The hidden nodes of a page. Hides are found by depth, so only those of the page's own stretch are read. */
export function hiddenIn(
  lookup: Lookup,
  conversation: { readonly row: number; readonly isFork: boolean },
  rows: readonly EntryRow[],
  depths: { readonly lowest: number; readonly highest: number },
): ReadonlySet<EntryId> {
  const { lowest, highest } = depths;
  const own = lookup.sql.all<Hide>(HIDES, conversation.row, lowest, highest, Number.MAX_SAFE_INTEGER);
  const inherited = conversation.isFork ? inheritedHides(lookup, conversation.row, depths) : [];
  if (own.length === 0 && inherited.length === 0) return NONE;
  const facts = [...inherited, ...own].map(([holder, target, hidden]) => ({
    holder,
    target,
    hidden: hidden === 1,
  }));
  return hiddenBy(
    facts,
    rows.map((row) => ({ holder: row[8], target: row[1] })),
  );
}

function inheritedHides(
  lookup: Lookup,
  row: number,
  depths: { readonly lowest: number; readonly highest: number },
): readonly Hide[] {
  const fork = lookup.conversations.inRow(row)?.fork;
  if (!fork) return [];
  const { hideLevels } = lookup.lineage(row, fork);
  return hideLevels.flatMap((level) =>
    lookup.sql.all<Hide>(HIDES, level.row, depths.lowest, depths.highest, level.head),
  );
}

/** Whether a conversation hides a node of its own. */
export function hidesOwn(lookup: Lookup, row: EntryRow): boolean {
  const [, id, , , , , , , conversation, , depth] = row;
  return (
    depth !== null && lookup.sql.get<[number]>(LAST_HIDE, conversation, depth, conversation, id)?.[0] === 1
  );
}
