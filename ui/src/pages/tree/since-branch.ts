import type { TreeNode } from "#edges/http/client/views";

/** What a way took since it parted from others. */
export interface SinceBranch {
  readonly entries: number;
  readonly costMicros: number;
  /** Where it parted; null: nowhere, it is counted from the start. */
  readonly from: string | null;
}

/** From the last node above that several ways part at, up to and with this one. */
export function sinceBranch(byId: ReadonlyMap<string, TreeNode>, id: string): SinceBranch {
  let [entries, costMicros] = [0, 0];
  for (let at = byId.get(id); at !== undefined; at = byId.get(at.parentId ?? "")) {
    if (entries > 0 && at.children.length > 1) return { entries, costMicros, from: at.id };
    entries++;
    costMicros += at.costMicros ?? 0;
  }
  return { entries, costMicros, from: null };
}
