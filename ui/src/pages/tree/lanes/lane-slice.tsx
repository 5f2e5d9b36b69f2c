import type { JSX } from "preact";
import { type LaneClass, type RowLanes } from "./lane-state.ts";
import type { TreeRow } from "../tree-rows.ts";

const FIRST = 14;
const STEP = 18;
const HEIGHT = 28;
const MIDDLE = HEIGHT / 2;
const OVER = 8; // lines reach into the rows beside, so that rows of any height join

const xOf = (column: number): number => FIRST + column * STEP;

export function lanesWidth(columns: number): number {
  return Math.max(60, xOf(columns) + FIRST);
}

function Line({
  x,
  from,
  to,
  look,
  isDashed = false,
}: {
  readonly x: number;
  readonly from: number;
  readonly to: number;
  readonly look: LaneClass;
  readonly isDashed?: boolean;
}): JSX.Element {
  return <line class={isDashed ? `${look} replay` : look} x1={x} y1={from} x2={x} y2={to} />;
}

function Mark({ row, look }: { readonly row: TreeRow; readonly look: LaneClass }): JSX.Element {
  const x = xOf(row.lanes.column);
  if (row.kind === "fold")
    return (
      <>
        <rect class="fold" x={x - 5} y={8} width={10} height={12} />
        <path class={look} d={`M${x - 4} 10h8M${x - 4} 14h8M${x - 4} 18h8`} />
      </>
    );
  if (row.kind === "fork") return <circle class={`n ${look}`} cx={x} cy={MIDDLE} r={4} />;
  const { node, carry } = row;
  if (node.treeKind === "prompt")
    return <rect class={`n user ${look}`} x={x - 3.5} y={MIDDLE - 3.5} width={7} height={7} rx={1} />;
  const isSmall = node.treeKind === "start" || node.treeKind === "setting";
  const isLarge = carry !== null || node.type === "compaction";
  const radius = isLarge ? 5.5 : isSmall || node.treeKind === "tools" ? 2.5 : 4;
  const filled = node.treeKind === "tools" ? "user" : "";
  return <circle class={`n ${look} ${filled}`} cx={x} cy={MIDDLE} r={radius} />;
}

/** The lines of one row; all rows beneath each other are the tree. */
export function LaneSlice({ row, width }: { readonly row: TreeRow; readonly width: number }): JSX.Element {
  const { column, passing, up, down, elbow, isDashed }: RowLanes = row.lanes;
  const x = xOf(column);
  const look = elbow ?? up ?? down ?? "";
  return (
    <svg class="lanes" viewBox={`0 0 ${width} ${HEIGHT}`} width={width} aria-hidden="true">
      {elbow === null ? null : (
        <path class={isDashed ? `${elbow} replay` : elbow} d={`M${x - STEP} 6q0 8 8 8H${x}`} />
      )}
      {passing.map((line, at) =>
        line === null ? null : <Line key={at} x={xOf(at)} from={-OVER} to={HEIGHT + OVER} look={line} />,
      )}
      {up === null ? null : <Line x={x} from={-OVER} to={MIDDLE} look={up} isDashed={isDashed} />}
      {down === null ? null : <Line x={x} from={MIDDLE} to={HEIGHT + OVER} look={down} isDashed={isDashed} />}
      <Mark row={row} look={look} />
    </svg>
  );
}
