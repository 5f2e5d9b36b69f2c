import { decodeEntry } from "#log/codec";
import { isLogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { Holdfast } from "#conversation/holdfast";
import type { ConversationRow } from "#store/requests";
import { scopeLogOf } from "./scope-logs.ts";

const SCOPES_MAX = 500;

/** A scope that has a log. */
export interface ScopeRow {
  /** Its project; null: it is the user's. */
  readonly project: string | null;
  /** The log that counts, how long it is, and when it was last written to. */
  readonly log: ConversationId;
  readonly headSeq: number;
  readonly updatedAt: string;
}

/** The scopes that have a log, the newest change first; what cannot be read is left out. */
export async function listScopes(holdfast: Holdfast): Promise<readonly ScopeRow[]> {
  const newest = new Map<string, { readonly number: number; readonly row: ConversationRow }>();
  for await (const row of holdfast.list({ filter: { prefix: "memory.", unlisted: true } })) {
    const log = scopeLogOf(row.conversation);
    if (log === null || row.damage !== null) continue;
    if ((newest.get(log.name)?.number ?? 0) < log.number) newest.set(log.name, { number: log.number, row });
    if (newest.size >= SCOPES_MAX) break;
  }
  const scopes: ScopeRow[] = [];
  for (const { row } of newest.values()) {
    const project = await projectOfLog(holdfast, row.conversation);
    if (project === undefined) continue;
    scopes.push({
      project,
      log: row.conversation,
      headSeq: row.headSeq,
      updatedAt: row.updatedAt,
    });
  }
  return scopes;
}

/** Null: the user's log; undefined: gone by now, or nobody's. */
async function projectOfLog(
  { space }: Holdfast,
  conversation: ConversationId,
): Promise<string | null | undefined> {
  if (scopeLogOf(conversation)?.name === "memory.user") return null;
  try {
    const [stored] = await space.read({ conversation, limit: 1, types: ["conversation"] });
    const root = stored === undefined ? null : decodeEntry(stored);
    return root?.type === "conversation" ? root.project?.id : undefined;
  } catch (error) {
    if (isLogError(error) && (error.group === "missing" || error.group === "damaged")) return undefined;
    throw error;
  }
}
