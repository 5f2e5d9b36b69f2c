import type { TurnUsageView } from "#edges/http/client/views";
import { ticksOf } from "./usage-spans.ts";

type Turn = TurnUsageView["turns"][number];
type Mark = TurnUsageView["marks"][number];

/** Where the parts of the drawing are, from above: carriers, words of the marks, context, cost. */
export const AREA = {
  left: 52,
  bandY: 16,
  markY: 35,
  top: 56,
  floor: 216,
  costTop: 244,
  costFloor: 276,
  height: 296,
} as const;

/** The turn with the largest context, the first of several; null: nobody counted. */
export function peakOf(turns: readonly Turn[]): number | null {
  const most = Math.max(0, ...turns.map(({ contextTokens }) => contextTokens ?? 0));
  return turns.find(({ contextTokens }) => most > 0 && contextTokens === most)?.number ?? null;
}

const LETTER_PX = 6.2;
const LABEL_PX = 36;

/** A spell of turns that one session carried. */
interface Band {
  readonly carrier: number;
  readonly x: number;
  readonly width: number;
}

interface PlacedMark {
  readonly mark: Mark;
  readonly x: number;
  /** There is room for its words before the next one. */
  readonly hasRoom: boolean;
}

interface PlacedTurn {
  readonly turn: Turn;
  readonly x: number;
  readonly width: number;
  readonly costY: number;
  /** The first turn of another carrier, whose cache is cold. */
  readonly isCold: boolean;
  readonly hasLabel: boolean;
}

export interface TurnDrawing {
  readonly ticks: readonly { readonly value: number; readonly y: number }[];
  /** Steps; turns of which nothing is known leave a gap. */
  readonly steps: string;
  readonly area: string;
  readonly peak: {
    readonly x: number;
    readonly y: number;
    readonly tokens: number;
    readonly turn: number;
  } | null;
  readonly bands: readonly Band[];
  readonly marks: readonly PlacedMark[];
  readonly turns: readonly PlacedTurn[];
}

export function markWords({ kind, reason, tokensBefore }: Mark): string {
  if (kind === "rollover") return (reason ?? "rollover").replaceAll("_", " ").slice(0, 40);
  return tokensBefore === null ? "compaction" : `compaction of ${tokensBefore.toLocaleString("en-US")}`;
}

/** Everything about the drawing but its looks. */
export function turnDrawing(
  { turns, marks }: Pick<TurnUsageView, "turns" | "marks">,
  width: number,
): TurnDrawing {
  const { left, top, floor, costTop, costFloor } = AREA;
  const first = turns[0]?.number ?? 1;
  const each = (width - left) / Math.max(1, turns.length);
  const xOf = (turn: number): number => left + Math.min(turns.length, Math.max(0, turn - first)) * each;
  const most = Math.max(0, ...turns.map(({ contextTokens }) => contextTokens ?? 0));
  const ticks = ticksOf(most);
  const yOf = (tokens: number): number => floor - ((floor - top) * tokens) / (ticks.at(-1) ?? 1);
  const dearest = Math.max(1, ...turns.map(({ costMicros }) => costMicros ?? 0));
  const every = Math.max(1, Math.ceil(LABEL_PX / Math.max(0.01, each)));
  const peak = turns.find(({ number }) => number === peakOf(turns));
  return {
    ticks: ticks.map((value) => ({ value, y: yOf(value) })),
    ...paths(turns, xOf, yOf),
    peak:
      peak === undefined
        ? null
        : { x: xOf(peak.number) + each / 2, y: yOf(most), tokens: most, turn: peak.number },
    bands: bandsOf(turns, xOf, each),
    marks: placedMarks(marks, xOf, width),
    turns: turns.map((turn, at) => ({
      turn,
      x: xOf(turn.number),
      width: each,
      costY: costFloor - ((costFloor - costTop) * (turn.costMicros ?? 0)) / dearest,
      isCold: marks.some((mark) => mark.kind === "rollover" && mark.turn === turn.number),
      hasLabel: at % every === 0,
    })),
  };
}

function paths(
  turns: readonly Turn[],
  xOf: (turn: number) => number,
  yOf: (tokens: number) => number,
): Pick<TurnDrawing, "steps" | "area"> {
  let [steps, area, from] = ["", "", -1];
  const close = (end: number): void => {
    if (from >= 0) area += `V${AREA.floor}H${xOf(from)}Z`;
    from = end;
  };
  for (const { number, contextTokens } of turns) {
    if (contextTokens === null) {
      close(-1);
      continue;
    }
    const [x, y, next] = [xOf(number), yOf(contextTokens), xOf(number + 1)];
    const isStart = from < 0;
    if (isStart) from = number;
    const piece = `${isStart ? `M${x} ${y}` : `V${y}`}H${next}`;
    steps += piece;
    area += piece;
  }
  close(-1);
  return { steps, area };
}

function bandsOf(turns: readonly Turn[], xOf: (turn: number) => number, each: number): readonly Band[] {
  const bands: { carrier: number; x: number; width: number }[] = [];
  let before: number | null = null;
  for (const { number, carrier } of turns) {
    const last = bands.at(-1);
    if (carrier !== null && carrier === before && last !== undefined) last.width += each;
    else if (carrier !== null) bands.push({ carrier, x: xOf(number), width: each });
    before = carrier;
  }
  return bands.map(({ carrier, x, width }) => ({ carrier, x, width: width > 4 ? width - 2 : width }));
}

function placedMarks(
  marks: readonly Mark[],
  xOf: (turn: number) => number,
  width: number,
): readonly PlacedMark[] {
  return marks.map((mark, at) => {
    const [x, next] = [xOf(mark.turn), marks[at + 1]];
    const end = next === undefined ? width : xOf(next.turn);
    return { mark, x, hasRoom: end - x > markWords(mark).length * LETTER_PX + 12 };
  });
}
