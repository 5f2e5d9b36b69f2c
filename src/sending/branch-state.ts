import type { Entry } from "#log/entry";
import type { Leaf } from "#log/lineage/head";
import { cwdOf } from "#log/projections/settings";
import { readBranchEnd } from "#conversation/reading";
import { readLastModelNode } from "#turn/last-said";
import { readNear } from "./sessions/branch-reads.ts";
import type { BranchState, Work } from "./turn-parts.ts";

/** Where the branch stands before a prompt: at its end, or where it stood before a prompt that is sent again. */
export async function readBranchState(
  { conversation }: Pick<Work, "conversation">,
  facts: readonly Entry[],
  before: Leaf | null,
): Promise<BranchState> {
  const { space, id } = conversation;
  const { head, page, settings: now } = await readBranchEnd(space, id);
  const leaf = before ?? head.leaf;
  const near = before === null ? page : await readNear(space, id, before);
  const usedAt = facts.findLast((fact) => fact.type === "attempt" || fact.type === "turn_end")?.time ?? null;
  const { model, config } = now;
  const settings = { conversation: id, cwd: cwdOf(config, head.cwd), model, config, usedAt };
  const lastModelNode = await readLastModelNode(space, id, leaf, near);
  return { leaf, near, lastModelNode, settings, tip: head.leaf.id, tipPlace: async () => head.leaf };
}
