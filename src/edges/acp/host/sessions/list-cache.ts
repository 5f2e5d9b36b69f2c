import { LiveProjections } from "#conversation/live-projections";
import type { ConversationId } from "#log/ids";
import type { Projection } from "#log/projections/projection";

const LINKS: Projection<readonly string[]> = {
  types: ["upstream_link"],
  start: () => [],
  add: (ids, entry) => (entry.type === "upstream_link" ? [...ids, `${entry.agent}:${entry.upstream}`] : ids),
};
const LOGS_MAX = 10_000;

/** What a list has read from logs: a log that has not grown says what it said. */
export class ListCache {
  /** Where each conversation lives. It follows from its branch, not from its log. */
  readonly folders: Map<ConversationId, { readonly headSeq: number; readonly cwd: string }> = new Map();
  /** The upstream sessions that each conversation has held. */
  readonly links: LiveProjections<readonly string[]> = new LiveProjections(LINKS, { logs: LOGS_MAX });
}
