import type { ConversationId, EntryId } from "#log/ids";
import type { Head } from "#log/lineage/head";

export const FIRST_LOG = 1;

const SCOPE_LOG = /^(memory\.(?:user|project\.[0-9a-z]+))(?:\.([1-9]\d*))?$/;

/** The scope whose log has this id, and which of its logs it is; null: another kind of log. */
export function scopeLogOf(id: ConversationId): { readonly name: string; readonly number: number } | null {
  const [whole, name = "", number] = SCOPE_LOG.exec(id) ?? [];
  return whole === undefined ? null : { name, number: number === undefined ? FIRST_LOG : Number(number) };
}

/** The root of the first log that a scope had here: the same in every log that took the place of another. */
export function beganAs({ leaf, summary }: Pick<Head, "leaf" | "summary">): EntryId {
  const began = summary?.metadata["began"];
  return typeof began === "string" ? began : leaf.id;
}
