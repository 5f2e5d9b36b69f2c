import type { JSX } from "preact";
import { reasonText } from "#operations/text";
import { safeLine, shortId } from "#transfer/views/safe-text";
import { Carrier } from "../../parts/marks/carrier.tsx";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";
import { countText } from "../../parts/numbers.ts";
import { LaneSlice } from "./lanes/lane-slice.tsx";
import { LANES_MAX } from "./lanes/lane-state.ts";
import type { TreeRow } from "./tree-rows.ts";

export interface RowState {
  readonly index: number;
  readonly count: number;
  readonly width: number;
  readonly isCurrent: boolean;
  readonly isAt: boolean;
  readonly side: "a" | "b" | null;
  readonly isAncestor: boolean;
  readonly isLeaf: boolean;
}

const LINE_MAX = 160;
const WORDS: { readonly [type: string]: string } = {
  conversation: "conversation",
  model_change: "model",
  config_change: "settings",
  skill_change: "skill",
  state_change: "state",
  branch_summary: "summary of a branch",
};

/** What a node is, in words, for whoever does not see its mark. */
const SPOKEN: { readonly [kind: string]: string } = {
  prompt: "Prompt: ",
  answer: "Answer: ",
  tools: "Tools: ",
};

function iconOf(row: Extract<TreeRow, { kind: "node" }>): IconName | null {
  if (row.node.type === "compaction") return "fold";
  return row.node.treeKind === "tools" ? "terminal" : null;
}

function NodeWords({ row }: { readonly row: Extract<TreeRow, { kind: "node" }> }): JSX.Element {
  const { node, carry } = row;
  const icon = iconOf(row);
  const words = safeLine(node.preview.slice(0, LINE_MAX));
  const reason = carry === null ? "" : safeLine(reasonText(carry.reason));
  const name = node.treeKind === "setting" || node.treeKind === "start" ? WORDS[node.type] : undefined;
  return (
    <span class="say">
      {carry === null ? null : (
        <span class="badge carry" title={`New session: ${reason}`}>
          <Icon name="roll" />
          <Carrier place={carry.place} />
          <span class="cut">{reason}</span>
        </span>
      )}
      {icon === null ? null : <Icon name={icon} />}
      <span class="sr">{SPOKEN[node.treeKind] ?? ""}</span>
      {node.type === "compaction" ? <span>compaction</span> : null}
      {name === undefined ? null : <span>{name}</span>}
      <span class={name === undefined && node.type !== "compaction" ? "cut" : "cut who"}>
        {words === "" && name === undefined ? node.type.replaceAll("_", " ") : words}
      </span>
    </span>
  );
}

function NodeEnd({
  row,
  state,
}: {
  readonly row: Extract<TreeRow, { kind: "node" }>;
  readonly state: RowState;
}): JSX.Element {
  const { node, sibling, lane } = row;
  return (
    <span class="end">
      {lane > LANES_MAX ? <span class="tag">{`lane ${(lane + 1).toLocaleString("en-US")}`}</span> : null}
      {node.hidden ? <span class="tag">hidden</span> : null}
      {node.label === null ? null : (
        <span class="tag label-tag">
          <Icon name="label" />
          <span class="sr">label </span>
          <span class="cut">{safeLine(node.label)}</span>
        </span>
      )}
      {state.isAncestor ? <span class="tag">ancestor</span> : null}
      {state.isLeaf ? <span class="tag ok">active</span> : null}
      {sibling === null ? null : <span title={`Branch ${sibling.replace("/", " of ")} here`}>{sibling}</span>}
      <span class="mono-id">{shortId(node.id)}</span>
    </span>
  );
}

function FoldWords({ row }: { readonly row: Extract<TreeRow, { kind: "fold" }> }): JSX.Element {
  const text =
    row.what === "entries"
      ? countText(row.count, "entry", "entries")
      : `${countText(row.count, "other branch", "other branches")}${row.isOpen ? "" : ", the newest shown"}`;
  return (
    <span class="say">
      <Icon name={row.isOpen ? "down" : "right"} />
      <span>{text}</span>
    </span>
  );
}

function ForkWords({ row }: { readonly row: Extract<TreeRow, { kind: "fork" }> }): JSX.Element {
  const { fork } = row;
  return (
    <span class="say">
      <Icon name={fork.isReplay ? "replay" : "fork"} />
      <span class="strong cut">{safeLine(fork.title.slice(0, LINE_MAX))}</span>
      <span class="who cut">{safeLine(fork.about)}</span>
    </span>
  );
}

const rowName = (row: TreeRow): string =>
  row.kind === "fold" ? "fact" : row.kind === "node" && row.node.treeKind === "prompt" ? "prompt" : "";

/** One row: its lines, its words, and what it is. */
export function TreeRowLine({
  row,
  state,
  choose,
  point,
}: {
  readonly row: TreeRow;
  readonly state: RowState;
  readonly choose: () => void;
  readonly point: () => void;
}): JSX.Element {
  const { side, isAt, isCurrent, isAncestor, index, count, width } = state;
  const isFact = row.kind === "node" && (row.node.treeKind === "setting" || row.node.treeKind === "start");
  const names = [
    "tree-row",
    rowName(row),
    isFact ? "fact" : "",
    side === null ? "" : `pick-${side}`,
    isAncestor ? "ancestor" : "",
    isAt ? "is-at" : "",
    isCurrent ? "is-current" : "",
  ];
  return (
    <div
      id={`tree-row-${index}`}
      class={names.filter(Boolean).join(" ")}
      role="treeitem"
      aria-level={row.lane + 1}
      aria-setsize={count}
      aria-posinset={index + 1}
      aria-selected={side !== null}
      aria-current={isAt ? "true" : undefined}
      aria-expanded={row.kind === "fold" ? row.isOpen : undefined}
      onClick={choose}
      onMouseEnter={point}
    >
      <LaneSlice row={row} width={width} />
      {row.kind === "node" ? (
        <>
          <NodeWords row={row} />
          <span class="row-end">
            {side === null ? null : <span class={`side-${side}`}>{side.toUpperCase()}</span>}
            <NodeEnd row={row} state={state} />
          </span>
        </>
      ) : row.kind === "fold" ? (
        <FoldWords row={row} />
      ) : (
        <>
          <ForkWords row={row} />
          <span class="row-end">
            {side === null ? null : <span class={`side-${side}`}>{side.toUpperCase()}</span>}
            <span class="end">{row.fork.isReplay ? "replay" : "fork"}</span>
          </span>
        </>
      )}
    </div>
  );
}
