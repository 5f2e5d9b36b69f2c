import type { Holdfast } from "#conversation/holdfast";
import { FORMAT_VERSION } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { HeadView } from "#store/requests";
import { blobOf } from "./export-lines.ts";
import type { LogReport } from "./log-check.ts";
import type { ImportReport } from "./import-check.ts";

/**
 * `unfinished`: an earlier run of this import was cut off. `blobs`: only those are missing. `same`: it is there already.
 * `conflict`: another conversation has its id, which only a dry run tells.
 */
export type ImportState = "new" | "unfinished" | "blobs" | "same" | "conflict";

/** Whether existing and conflicting conversations are states of the result; otherwise they are errors. */
export interface TellThere {
  readonly same: boolean;
  readonly conflict: boolean;
}

/** What becomes of a conversation of a file. */
export interface ImportTarget {
  readonly id: ConversationId;
  readonly log: LogReport;
  readonly state: ImportState;
  /** It gets the very links that the file has: the same batches by the same authors, nothing left out. */
  readonly keepsLinks: boolean;
}

/** The name under which an import is made known to those who find it unfinished. */
export function importWriter(digest: string): string {
  return `import ${digest.slice(0, 16)}`;
}

/** The key of an append that ends with an entry; that of the first is known beforehand. */
export function importKey(digest: string, lastEntry: number): string {
  return `import/${digest}/${lastEntry}`;
}

/**
 * Where each conversation of a checked file goes, learned without writing anything. An id may be taken only by the same
 * conversation, or by an earlier run of this very import. `ids` are those of its logs, in their order.
 */
export async function importTargets(
  holdfast: Holdfast,
  checked: ImportReport,
  ids: readonly ConversationId[],
  tell: TellThere = { same: false, conflict: false },
): Promise<readonly ImportTarget[]> {
  const targets: ImportTarget[] = [];
  const sourceIds = new Map(checked.logs.map(({ header }, index) => [header.conversation, ids[index]]));
  for (const [index, log] of checked.logs.entries()) {
    const id = ids[index];
    if (id === undefined || log.entries === 0) continue; // nothing of it can be reached
    const sameSource = log.source === null || sourceIds.get(log.source) === log.source;
    const keepsLinks = sameSource && keepsLinksAs(checked, log, id);
    const state = await stateOf(holdfast, { id, log, keepsLinks }, checked.digest).catch((error: unknown) => {
      if (tell.conflict && isLogError(error, "conversation_exists")) return "conflict" as const;
      throw error;
    });
    targets.push({ id, log, state, keepsLinks });
  }
  if (!tell.same && targets.every(({ state }) => state === "same")) throw allThere(targets);
  return targets;
}

function keepsLinksAs({ problems }: ImportReport, { header, links }: LogReport, id: ConversationId): boolean {
  const same = header.conversation === id && header.v === FORMAT_VERSION;
  return links.linked && links.asTheyStand && same && problems.length === 0;
}

async function stateOf(
  holdfast: Holdfast,
  { id, log, keepsLinks }: Pick<ImportTarget, "id" | "log" | "keepsLinks">,
  digest: string,
): Promise<ImportState> {
  const head = await headOf(holdfast, id);
  if (head === null) return "new";
  const conversation = holdfast.handle(id);
  const first = await conversation.findAppend(importKey(digest, 1));
  const whole =
    (first !== null && first.toSeq >= log.entries) ||
    (await conversation.findAppend(importKey(digest, log.entries))) !== null ||
    (keepsLinks && (await hasLink(holdfast, id, log)));
  if (!whole && first === null) throw idTaken(id, head);
  if (!whole || head.lease?.writer === importWriter(digest)) return "unfinished";
  for (const blob of log.blobs) if ((await blobOf(conversation, blob)) === null) return "blobs";
  return "same";
}

async function headOf(holdfast: Holdfast, id: ConversationId): Promise<HeadView | null> {
  try {
    return await holdfast.handle(id).head();
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return null;
    throw error;
  }
}

/** A link holds everything before it: where the log has that of the file, it has all that the file has. */
async function hasLink(
  holdfast: Holdfast,
  id: ConversationId,
  { entries, links }: LogReport,
): Promise<boolean> {
  const [end] = await holdfast.handle(id).batchEnds({ after: entries - 1, limit: 1 });
  return end?.seq === entries && end.link === links.link;
}

function idTaken(id: ConversationId, { lease }: HeadView): LogError {
  const unfinished = lease?.writer.startsWith("import ") === true;
  const why = unfinished
    ? `${id} is an unfinished import of another file. Import that file again, or erase ${id}`
    : `Another conversation ${id} already exists`;
  return new LogError("conversation_exists", `${why}.`, { conversation: id });
}

function allThere(targets: readonly ImportTarget[]): LogError {
  const [only, ...others] = targets;
  const contents =
    others.length === 0
      ? `The content of this file already exists as ${only?.id}`
      : `All ${targets.length} conversations of this file already exist`;
  return new LogError("conversation_exists", `${contents}.`, {
    conversation: only?.id ?? "",
  });
}
