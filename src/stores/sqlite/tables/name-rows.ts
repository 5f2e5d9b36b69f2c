import { decodeEntry } from "#log/codec";
import type { StoredEntry } from "#log/entry";
import type { EntryId } from "#log/ids";
import { holding, STARTING } from "./holding.ts";
import { type Lookup, onPath } from "./lookup.ts";
import { type Conversation, ENTRY_COLUMNS, type EntryRow } from "./rows.ts";
import { LABEL_OF, LABEL_TARGET_OF } from "./schema.ts";

const INHERITED_IDS_MAX = 10_000; // of a source, looked through for those on the path

const IDS = `SELECT id, segment, depth FROM entries INDEXED BY entries_id
  WHERE ${STARTING} AND conversation = ? AND segment IS NOT NULL ORDER BY id LIMIT ?`;
// Nothing is in order of its end, so this goes through the conversation's nodes.
const IDS_ENDING = `SELECT id, segment, depth FROM entries INDEXED BY entries_path
  WHERE ${STARTING} AND conversation = ? AND segment IS NOT NULL AND substr(id, -?) = ? LIMIT ?`;
const BY_LABEL = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_label
  WHERE kind = 32 AND ${LABEL_OF} IS ? AND conversation = ? AND seq <= ? LIMIT ?`;
const BY_TARGET = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_label_target
  WHERE kind = 32 AND ${LABEL_TARGET_OF} IS ? AND conversation = ? AND seq <= ? ORDER BY seq`;
const ERASED = `SELECT 1 FROM conversations WHERE row IN (SELECT value FROM json_each(?)) AND listed = 0`;

/** The visible nodes whose id starts and ends so. */
export function nodeIds(
  lookup: Lookup,
  conversation: Conversation,
  {
    prefix,
    suffix = "",
    limit,
  }: { readonly prefix: string; readonly suffix?: string; readonly limit: number },
): readonly EntryId[] {
  const { row, fork } = conversation;
  const { sql } = lookup;
  const find = (holder: number, most: number): [EntryId, number, number][] =>
    suffix === ""
      ? sql.all(IDS, prefix, prefix, holder, most)
      : sql.all(IDS_ENDING, prefix, prefix, holder, suffix.length, suffix, most);
  const ids = new Set(find(row, limit).map(([id]) => id));
  if (fork === null) return [...ids];
  const lineage = lookup.lineage(row, fork);
  for (const holder of holding(sql, "prefix", [prefix, prefix], lineage.holders))
    for (const [id, segment, depth] of find(holder, INHERITED_IDS_MAX))
      if (onPath(lineage, { row: holder, segment, depth })) ids.add(id);
  return [...ids].slice(0, limit);
}

/** How much of the labels and hides of a log a conversation sees. */
interface Level {
  readonly row: number;
  readonly head: number;
}

/**
 * The label facts, those of the oldest log first, about every node that was ever given a label; null where that cannot be
 * told from the index, or more than `limit` facts give it.
 */
export function labelFacts(
  lookup: Lookup,
  conversation: Conversation,
  { label, limit }: { readonly label: string; readonly limit: number },
): readonly StoredEntry[] | null {
  const { sql } = lookup;
  const { row, fork } = conversation;
  // To SQLite every lone half of a character is the same one.
  if (!label.isWellFormed()) return null;
  const own: Level = { row, head: Number.MAX_SAFE_INTEGER };
  const levels = fork === null ? [own] : [...lookup.lineage(row, fork).levels, own];
  const logs = new Set(levels.map((level) => level.row));
  /** The rows a name has in these logs, and those of which SQLite cannot tell the name. */
  const rowsOf = (by: "label" | "target", sought: string | null, most: number): EntryRow[] => {
    const holders = new Set(holding(sql, by, [sought], logs));
    const some = levels.filter((level) => holders.has(level.row));
    return some.flatMap((level) =>
      by === "label"
        ? sql.all<EntryRow>(BY_LABEL, sought, level.row, level.head, most)
        : sql.all<EntryRow>(BY_TARGET, sought, level.row, level.head),
    );
  };
  const labels = [label, null].flatMap((sought) => rowsOf("label", sought, limit + 1));
  if (labels.length > limit) return null;
  const targets = new Set(labels.flatMap((entry) => targetOf(lookup, entry)));
  const facts = [...targets, null].flatMap((target) =>
    labels.length === 0 ? [] : rowsOf("target", target, 0),
  );
  const order = new Map(levels.map((level, index) => [level.row, index]));
  const levelOf = (entry: EntryRow): number => order.get(entry[8]) ?? 0;
  const lowest = Math.min(...facts.map(levelOf));
  // Above an erased log nothing that is said about nodes is inherited.
  if (lowest < levels.length - 1) {
    const between = levels.slice(lowest).map((level) => level.row);
    if (sql.get(ERASED, JSON.stringify(between)) !== undefined) return null;
  }
  return facts
    .toSorted((a, b) => levelOf(a) - levelOf(b) || a[2] - b[2])
    .map((entry) => lookup.stored(entry));
}

function targetOf(lookup: Lookup, row: EntryRow): readonly EntryId[] {
  const entry = decodeEntry(lookup.stored(row));
  return entry.type === "label" ? [entry.target] : [];
}
