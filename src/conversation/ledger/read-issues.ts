import { LogError } from "#log/errors";
import type { Issue } from "#log/projections/issue";
import { openIssues, OpenStartFinder, START_TYPES } from "#log/projections/issues";
import type { ConversationId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import { eachEntry } from "#conversation/read-log";
import { readContextIssues } from "#conversation/reading";

/** Turns and runs without an end are in the head, as long as it can name them; then what the context lacks. */
export async function readIssues(space: SpaceStore, conversation: ConversationId): Promise<readonly Issue[]> {
  const { summary, origin } = await space.head(conversation);
  const counts = summary?.counts ?? null;
  const open = counts === null || counts.more ? await findOpen(space, conversation) : openIssues(counts);
  // A context lacks calls, results, or where a compaction begins: without any of these it need not be read.
  if (counts !== null && counts.callsFrom === null && origin === null)
    if ((await space.read({ conversation, limit: 1, types: ["compaction"] })).length === 0) return open;
  return [...open, ...(await readContextIssues(space, conversation))];
}

async function findOpen(space: SpaceStore, conversation: ConversationId): Promise<readonly Issue[]> {
  const finder = new OpenStartFinder();
  await eachEntry(space, conversation, { types: START_TYPES, onEntry: (entry) => finder.add(entry) });
  return finder.result();
}

/** A part of the issues. */
export interface IssuesPage {
  readonly issues: readonly Issue[];
  /** Gives those after these; null at the end. */
  readonly cursor: string | null;
}

export interface IssuesRequest {
  /** How many issues; all when absent. */
  readonly limit?: number;
  /** Where the page before ended; the first page when absent. */
  readonly cursor?: string;
}

export async function readIssuesPage(
  space: SpaceStore,
  conversation: ConversationId,
  { limit = Number.POSITIVE_INFINITY, cursor = "0" }: IssuesRequest,
): Promise<IssuesPage> {
  if (!/^\d{1,15}$/.test(cursor))
    throw new LogError("invalid_request", `"${cursor}" is not a cursor. Use the cursor of the page before.`, {
      cursor,
    });
  const issues = await readIssues(space, conversation);
  const end = Number(cursor) + limit;
  return { issues: issues.slice(Number(cursor), end), cursor: end < issues.length ? String(end) : null };
}
