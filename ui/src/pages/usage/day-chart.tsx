import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import { useWidth } from "../../parts/measured-width.ts";
import { costText, countText, markText, tokensText } from "../../parts/numbers.ts";
import { type Column, type Measure, ticksOf } from "./usage-spans.ts";

const HEIGHT = 208;
const [LEFT, TOP, FOOT] = [52, 10, 24];
const LABEL_PX = 64;
const FLOOR = HEIGHT - FOOT;

interface DayChartProps {
  readonly columns: readonly Column[];
  readonly tones: readonly string[];
  readonly measure: Measure;
}

function measureText(value: number, measure: Measure): string {
  return measure === "cost" ? costText(value) : tokensText(value);
}

interface Stack {
  readonly column: Column;
  readonly x: number;
  readonly wide: number;
  readonly scale: number;
}

function StackedColumn({ column, x, wide, scale }: Stack): JSX.Element {
  let y = FLOOR;
  const boxes = column.parts.map((value, tone) => {
    const high = value * scale;
    y -= high;
    return high === 0 ? null : (
      <rect key={tone} class={`tone-${tone}`} x={x} y={y} width={wide} height={Math.max(0.75, high)} />
    );
  });
  const replays = column.replays * scale;
  return (
    <>
      {boxes}
      {replays === 0 ? null : (
        <rect
          class="replays"
          x={x + 0.5}
          y={y - replays}
          width={Math.max(1, wide - 1)}
          height={Math.max(1, replays)}
        />
      )}
    </>
  );
}

function Legend({ columns, tones }: Pick<DayChartProps, "columns" | "tones">): JSX.Element {
  const hasOthers = columns.some(({ parts }) => (parts.at(-1) ?? 0) > 0);
  const hasReplays = columns.some(({ replays }) => replays > 0);
  const shown = [
    ...tones.map((model, tone) => ({ name: safeLine(model), mark: `tone-${tone}` })),
    ...(hasOthers ? [{ name: "other models", mark: "tone-3" }] : []),
    ...(hasReplays ? [{ name: "replays (not in the total)", mark: "replays" }] : []),
  ];
  return (
    <p class="legend chart-legend">
      {shown.map(({ name, mark }) => (
        <span key={mark}>
          <svg viewBox="0 0 14 10" class="chart-key" aria-hidden="true">
            <rect class={mark} x="0.5" y="0.5" width="13" height="9" rx="1" />
          </svg>
          <span class="cut">{name}</span>
        </span>
      ))}
    </p>
  );
}

/** What was used on each day, by model: replays on top, outlined, in no sum of conversations. */
export function DayChart({ columns, tones, measure }: DayChartProps): JSX.Element {
  const [ref, width] = useWidth<HTMLDivElement>();
  const sums = columns.map(({ parts, replays }) => parts.reduce((sum, one) => sum + one, replays));
  const ticks = ticksOf(Math.max(0, ...sums));
  const scale = (FLOOR - TOP) / (ticks.at(-1) ?? 1);
  const each = (width - LEFT) / Math.max(1, columns.length);
  const every = Math.max(1, Math.ceil(LABEL_PX / Math.max(1, each)));
  const gap = each > 6 ? 3 : each > 2.5 ? 1 : 0;
  const used = sums.filter((sum) => sum > 0).length;
  const said = `${measure === "cost" ? "Cost" : "Tokens"} from ${columns[0]?.name ?? ""} to ${columns.at(-1)?.name ?? ""}: something was used in ${used} of ${countText(columns.length, "column")}, at most ${measureText(Math.max(0, ...sums), measure)}. The same numbers are in the table.`;
  return (
    <div ref={ref}>
      <Legend columns={columns} tones={tones} />
      {width === 0 ? null : (
        <svg
          class="chart"
          viewBox={`0 0 ${width} ${HEIGHT}`}
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={said}
        >
          {ticks.map((tick) => (
            <g key={tick}>
              <line
                class={tick === 0 ? "axis" : "grid"}
                x1={LEFT}
                x2={width}
                y1={FLOOR - tick * scale}
                y2={FLOOR - tick * scale}
              />
              <text x={LEFT - 8} y={FLOOR - tick * scale + 4} text-anchor="end">
                {measure === "cost" ? costText(tick) : markText(tick)}
              </text>
            </g>
          ))}
          {columns.map((column, at) => (
            <g key={column.name}>
              <title>{`${column.name}: ${measureText(sums[at] ?? 0, measure)}`}</title>
              <StackedColumn
                column={column}
                x={LEFT + at * each + gap / 2}
                wide={Math.min(48, Math.max(0.5, each - gap))}
                scale={scale}
              />
              {at % every === 0 && LEFT + at * each + LABEL_PX - 12 < width ? (
                <text x={LEFT + at * each} y={HEIGHT - 8}>
                  {column.name.length > 7 ? column.name.slice(5) : column.name}
                </text>
              ) : null}
            </g>
          ))}
        </svg>
      )}
    </div>
  );
}
