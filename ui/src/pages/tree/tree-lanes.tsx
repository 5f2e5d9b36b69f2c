import type { JSX } from "preact";
import type { TreeLine } from "./tree-layout.ts";

const HEIGHT = 28;
const FIRST_X = 14;
const WIDTH = 60;
const SHOWN_LANES = 3;

/** Far from the trunk lanes are drawn on top of each other: there is no more room. */
function xOf(lane: number): number {
  return FIRST_X + Math.min(lane, SHOWN_LANES - 1) * 18;
}

export type Picked = "a" | "b" | null;

function Mark({ line, tone }: { readonly line: TreeLine; readonly tone: string }): JSX.Element {
  const x = xOf(line.lane);
  if (line.count > 1)
    return (
      <>
        <rect class="fold" x={x - 5} y="8" width="10" height="12" />
        <path class={tone} d={`M${x - 4} 10h8M${x - 4} 14h8M${x - 4} 18h8`} />
      </>
    );
  if (line.node.kind === "user")
    return <rect class={`n user ${tone}`} x={x - 3.5} y="10.5" width="7" height="7" rx="1" />;
  const radius = line.node.kind === "assistant" || line.node.type === "compaction" ? 4 : 2.5;
  return <circle class={`n ${tone} ${line.goesOn ? "" : "leaf"}`} cx={x} cy={HEIGHT / 2} r={radius} />;
}

/** The slice of the lanes that belongs to one line; it reaches over its edges, so that slices join. */
export function TreeLanes({
  line,
  picked,
}: {
  readonly line: TreeLine;
  readonly picked: Picked;
}): JSX.Element {
  const { lane, isStart, goesOn, node } = line;
  const tone = picked ?? (node.active ? "trunk" : "");
  const x = xOf(lane);
  const passing = Array.from({ length: Math.min(lane, SHOWN_LANES) }, (_, at) => at).filter(
    (at) => xOf(at) !== x,
  );
  return (
    <svg class="lanes" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {passing.map((at) => (
        <line key={at} class={at === 0 ? "trunk" : ""} x1={xOf(at)} y1="-8" x2={xOf(at)} y2="36" />
      ))}
      {isStart ? (
        <path class={tone} d={`M${xOf(lane - 1)} 6q0 8 8 8H${x}`} />
      ) : node.parentId === null ? null : (
        <line class={tone} x1={x} y1="-8" x2={x} y2="14" />
      )}
      {goesOn ? <line class={tone} x1={x} y1="14" x2={x} y2="36" /> : null}
      <Mark line={line} tone={tone} />
    </svg>
  );
}
