import { NODE_TYPES } from "#log/entry-types";
import type { Entry } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import type { Leaf } from "#log/lineage/head";
import type { Projection } from "#log/projections/projection";
import {
  type LatestSettings,
  REPLY_NODES,
  repliedModel,
  type Settings,
  settingsOf,
} from "#log/projections/settings";
import { LiveProjection } from "#conversation/live-projection";
import { type BranchPage, readBranchEnd } from "#conversation/reading";
import type { SpaceStore } from "#store/facets";

const ADDED_MAX = 256;

/** The end of the active branch. */
export interface BranchEnd extends BranchPage {
  readonly leaf: Leaf;
  readonly cwd: string | null;
  readonly latest: LatestSettings;
  /** How many of the nodes were added since it was read; they continue the segment of the leaf. */
  readonly added: number;
}

export function settingsAtEnd({ latest, entries }: BranchEnd): Settings {
  return settingsOf(latest, repliedModel(entries.slice(0, REPLY_NODES)));
}

const NONE: ReadonlySet<EntryId> = new Set();
const ROOT: Leaf = { conversation: "", segment: 0, depth: -1, id: "", tip: false };

/** Messages are added to it. After any other change of the branch it is read again. */
const BRANCH_END: Projection<BranchEnd> = {
  types: [...NODE_TYPES, "hide", "leaf", "cwd"],
  start: () => ({ entries: [], hidden: NONE, next: null, leaf: ROOT, cwd: null, latest: {}, added: 0 }),
  add: (end, entry) => (entry.type === "message" ? withMessage(end, entry) : null),
};

function withMessage(end: BranchEnd, entry: Entry): BranchEnd | null {
  const { leaf } = end;
  if (entry.parentId !== leaf.id || !leaf.tip) return null;
  const depth = leaf.depth + 1;
  const added = end.added + 1;
  const grown = { ...end, leaf: { ...leaf, id: entry.id, depth }, entries: [entry, ...end.entries], added };
  if (added <= REPLY_NODES) return grown;
  const { conversation, segment } = leaf;
  const next = { conversation, segment, depth: depth - REPLY_NODES };
  return { ...grown, entries: grown.entries.slice(0, REPLY_NODES), next, added: REPLY_NODES };
}

/** The end of the branch of one conversation, for as long as this process has a session of it. */
export function liveBranchEnd(space: SpaceStore, conversation: ConversationId): LiveProjection<BranchEnd> {
  return new LiveProjection(space, conversation, BRANCH_END, {
    addedMax: ADDED_MAX,
    begin: async () => {
      const { head, page, latest } = await readBranchEnd(space, conversation);
      const { leaf: at, cwd } = head;
      const isOwn = at.conversation === conversation;
      const leaf = { ...at, tip: at.tip && isOwn };
      const [last] = page.entries;
      return {
        state: { ...page, leaf, cwd, latest, added: 0 },
        last: isOwn && last !== undefined ? { id: last.id, seq: last.seq } : null,
        head,
      };
    },
  });
}
