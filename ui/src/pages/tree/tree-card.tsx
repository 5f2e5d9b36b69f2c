import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { TreeNode } from "#edges/http/client/views";
import { safeLine, shortId } from "#transfer/views/safe-text";
import { costText, countText } from "../../parts/numbers.ts";
import { sinceBranch } from "./since-branch.ts";

const WORDS_MAX = 240;

/** What its way took since it parted from others, in words. */
export function sinceText(byId: ReadonlyMap<string, TreeNode>, id: string): string {
  const { entries, costMicros, from } = sinceBranch(byId, id);
  const since = from === null ? "since the start" : `since the branch at ${shortId(from)}`;
  return `${costText(costMicros)} and ${countText(entries, "entry", "entries")} ${since}`;
}

/** Under the row that is pointed at, or that keys are at: more of its words, and what its way took. */
export function TreeCard({
  node,
  index,
  byId,
}: {
  readonly node: TreeNode;
  readonly index: number;
  readonly byId: ReadonlyMap<string, TreeNode>;
}): JSX.Element {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const row = document.getElementById(`tree-row-${index}`);
    const around = ref.current?.offsetParent;
    if (row === null || around == null || ref.current === null) return;
    ref.current.style.top = `${row.getBoundingClientRect().bottom - around.getBoundingClientRect().top}px`;
  });
  return (
    <div class="tree-card" id="tree-card" role="tooltip" ref={ref}>
      <p class="cut-lines">{safeLine(node.preview.slice(0, WORDS_MAX)) || "No text"}</p>
      <p class="faint">{`seq ${node.seq} · ${sinceText(byId, node.id)}`}</p>
    </div>
  );
}
