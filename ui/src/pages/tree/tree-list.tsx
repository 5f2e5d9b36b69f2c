import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { TreeNode } from "#edges/http/client/views";
import { singleKeys } from "../../data/preferences.ts";
import { VirtualList, type WindowList } from "../../parts/virtual-list.tsx";
import { boundKeys } from "../../frame/keys.ts";
import { lanesWidth } from "./lanes/lane-slice.tsx";
import { type RowState, TreeRowLine } from "./tree-row.tsx";
import { TreeCard } from "./tree-card.tsx";
import type { TreeRow } from "./tree-rows.ts";
import { rowTyped, TypedAhead } from "./type-ahead.ts";

interface TreeListProps {
  readonly conversation: string;
  readonly byId: ReadonlyMap<string, TreeNode>;
  readonly rows: readonly TreeRow[];
  readonly at: string | null;
  readonly leaf: string;
  readonly ancestor: string | null;
  readonly sideOf: (row: TreeRow) => "a" | "b" | null;
  readonly choose: (row: TreeRow) => void;
  readonly toggle: (key: string, isOpen: boolean) => void;
  readonly pick: (row: TreeRow) => void;
  readonly openAll: () => void;
}

const ROW_HEIGHT = 28;

/** Where the row is that a branch of rows comes out of. */
function outerRow(rows: readonly TreeRow[], from: number): number {
  const lane = rows[from]?.lane ?? 0;
  for (let at = from - 1; at >= 0; at--) if ((rows[at]?.lane ?? 0) < lane) return at;
  return 0;
}

/** Which row comes next under a key; null: the key does not move. */
function movedTo(key: string, rows: readonly TreeRow[], now: number): number | null {
  const last = rows.length - 1;
  const row = rows[now];
  if (key === "ArrowDown" || key === "ArrowRight") return Math.min(last, now + 1);
  if (key === "ArrowUp") return Math.max(0, now - 1);
  if (key === "ArrowLeft") return row === undefined ? 0 : outerRow(rows, now);
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (key === "PageDown") return Math.min(last, now + 20);
  return key === "PageUp" ? Math.max(0, now - 20) : null;
}

/** Does what a key does to a row; false: it does nothing to it. */
function actedOn(key: string, row: TreeRow, props: TreeListProps): boolean {
  if (key === "Enter" || (key === " " && row.kind === "fold")) props.choose(row);
  else if (key === " ") props.pick(row);
  else if (key === "*") props.openAll();
  else if (row.kind === "fold" && key === "ArrowRight" && !row.isOpen) props.toggle(row.key, true);
  else if (row.kind === "fold" && key === "ArrowLeft" && row.isOpen) props.toggle(row.key, false);
  else return false;
  return true;
}

function indexOf(rows: readonly TreeRow[], id: string | null): number {
  return id === null ? -1 : rows.findIndex(({ key }) => key === id);
}

/** Letters that do something on the page are not typed ahead, unless such keys are off. */
const isPageKey = (key: string): boolean =>
  singleKeys.value === "on" && boundKeys().some(({ keys }) => keys === key);

function useTreeKeys(
  props: TreeListProps,
  current: number,
  move: (to: number) => void,
): (event: KeyboardEvent) => void {
  const { rows } = props;
  const typed = useRef(new TypedAhead());
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[current];
    if (row === undefined) return;
    if (actedOn(event.key, row, props)) typed.current.end();
    else {
      const word = typed.current.add(event.key, event.timeStamp, isPageKey);
      const to = movedTo(event.key, rows, current) ?? (word === null ? null : rowTyped(rows, current, word));
      if (to === null && word === null) return;
      if (to !== null) move(to);
    }
    event.preventDefault();
  };
}

/** The rows as a tree that is used by keys: the focus stays on the whole of it, for rows come and go with the screen. */
export function TreeList(props: TreeListProps): JSX.Element {
  const { rows, at, leaf, ancestor, conversation } = props;
  const list = useRef<WindowList | null>(null);
  const [key, setKey] = useState<string | null>(at);
  const [hasFocus, setFocus] = useState(false);
  const [pointed, setPointed] = useState<string | null>(null);
  const current = Math.max(0, indexOf(rows, key));
  const width = lanesWidth(rows.reduce((most, { lanes }) => Math.max(most, lanes.column), 0));
  useEffect(() => {
    const place = indexOf(rows, at);
    if (place > 0) list.current?.scrollToIndex(place, { align: "center" });
  }, [rows.length === 0]);
  const move = (to: number): void => {
    setKey(rows[to]?.key ?? null);
    list.current?.scrollToIndex(to, { align: "auto" });
  };
  const onKeyDown = useTreeKeys(props, current, move);
  const cardedAt = pointed === null ? current : indexOf(rows, pointed);
  const carded = pointed !== null || hasFocus ? rows[cardedAt] : undefined;
  const card = carded?.kind === "node" ? carded : null;
  const stateOf = (index: number, row: TreeRow): RowState => ({
    index,
    count: rows.length,
    width,
    isCurrent: hasFocus && index === current,
    isAt: row.key === at,
    side: props.sideOf(row),
    isAncestor: row.key === ancestor,
    isLeaf: row.key === leaf,
  });
  return (
    <div class="tree-with-card">
      <div
        class="tree-rows"
        role="tree"
        tabIndex={0}
        aria-label={`Branches of ${conversation}`}
        aria-multiselectable="true"
        aria-activedescendant={`tree-row-${current}`}
        style={{ "--lanes": `${width}px` }}
        onKeyDown={onKeyDown}
        aria-describedby={card === null ? undefined : "tree-card"}
        onFocus={() => setFocus(true)}
        onBlur={() => setFocus(false)}
        onMouseLeave={() => setPointed(null)}
      >
        <VirtualList
          count={rows.length}
          estimate={() => ROW_HEIGHT}
          keyOf={(index) => rows[index]?.key ?? index}
          overscan={12}
          role="none"
          rowRole="none"
          onReady={(made) => void (list.current = made)}
          render={(index) => {
            const row = rows[index];
            if (row === undefined) return <div />;
            const choose = (): void => (setKey(row.key), props.choose(row));
            const point = (): void => setPointed(row.key);
            return <TreeRowLine row={row} state={stateOf(index, row)} choose={choose} point={point} />;
          }}
        />
      </div>
      {card === null ? null : <TreeCard node={card.node} index={cardedAt} byId={props.byId} />}
    </div>
  );
}
