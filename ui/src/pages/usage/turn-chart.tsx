import type { JSX } from "preact";
import type { TurnUsageView } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { carrierLetter, carrierTone } from "../../parts/marks/carrier.tsx";
import { useWidth } from "../../parts/measured-width.ts";
import { costText, countText, markText, tokensText } from "../../parts/numbers.ts";
import { AREA, markWords, turnDrawing, type TurnDrawing } from "./turn-geometry.ts";

function Carriers({ bands }: Pick<TurnDrawing, "bands">): JSX.Element {
  return (
    <>
      {bands.map(({ carrier, x, width }) => (
        <g key={x}>
          <rect class={carrierTone(carrier)} x={x} y={AREA.bandY} width={width} height="4" />
          {width > 14 ? (
            <text class="carry-text" x={x} y={AREA.bandY - 4}>
              {carrierLetter(carrier)}
            </text>
          ) : null}
        </g>
      ))}
    </>
  );
}

function Context({ drawing, width }: { readonly drawing: TurnDrawing; readonly width: number }): JSX.Element {
  const { ticks, steps, area, peak } = drawing;
  const isLate = peak !== null && peak.x > width / 2;
  return (
    <>
      {ticks.map(({ value, y }) => (
        <g key={value}>
          <line class={value === 0 ? "axis" : "grid"} x1={AREA.left} x2={width} y1={y} y2={y} />
          <text x={AREA.left - 8} y={y + 4} text-anchor="end">
            {markText(value)}
          </text>
        </g>
      ))}
      <path class="area" d={area} />
      <path class="step" d={steps} />
      {peak === null ? null : (
        <>
          <circle class="peak" cx={peak.x} cy={peak.y} r="3.5" />
          <text
            class="strong-text"
            x={peak.x + (isLate ? -8 : 8)}
            y={peak.y - 7}
            text-anchor={isLate ? "end" : "start"}
          >
            peak {tokensText(peak.tokens)}
          </text>
        </>
      )}
    </>
  );
}

function Marks({ marks }: Pick<TurnDrawing, "marks">): JSX.Element {
  return (
    <>
      {marks.map(({ mark, x, hasRoom }) => {
        const isRoll = mark.kind === "rollover";
        const words = safeLine(markWords(mark));
        return (
          <g key={mark.entry}>
            <title>{`${mark.kind}: ${words}`}</title>
            <line class={isRoll ? "roll" : "comp"} x1={x} x2={x} y1={AREA.bandY} y2={AREA.floor} />
            {hasRoom ? (
              <text class={isRoll ? "carry-text" : ""} x={x + 6} y={AREA.markY}>
                {words}
              </text>
            ) : null}
          </g>
        );
      })}
    </>
  );
}

function Costs({ turns, width }: Pick<TurnDrawing, "turns"> & { readonly width: number }): JSX.Element {
  return (
    <>
      <text x={AREA.left} y={AREA.costTop - 8}>
        {width < 560
          ? "Cost of each turn. Colored: a new session"
          : "Cost of each turn. Colored: the first turn of a new session, with a cold cache"}
      </text>
      <line class="axis" x1={AREA.left} x2={width} y1={AREA.costFloor} y2={AREA.costFloor} />
      {turns.map(({ turn, x, width: each, costY, isCold, hasLabel }) => (
        <g key={turn.number}>
          <title>{`Turn ${turn.number}: ${costText(turn.costMicros)}`}</title>
          <rect
            class={isCold ? "cost cold" : "cost"}
            x={x + (each > 6 ? 2 : 0)}
            y={costY}
            width={Math.min(36, Math.max(0.5, each - (each > 6 ? 4 : 0)))}
            height={AREA.costFloor - costY}
          />
          {hasLabel ? (
            <text x={x + Math.min(20, each / 2)} y={AREA.height - 4} text-anchor="middle">
              {turn.number}
            </text>
          ) : null}
        </g>
      ))}
    </>
  );
}

/** How large the context of each turn was, who carried it, where it rolled over or was compacted, and what it cost. */
export function TurnChart({ found }: { readonly found: TurnUsageView }): JSX.Element {
  const [ref, width] = useWidth<HTMLDivElement>();
  const drawing = turnDrawing(found, width);
  const count = (kind: string): number => found.marks.filter((mark) => mark.kind === kind).length;
  const said = [
    `Context of ${countText(found.turns.length, "turn")}`,
    drawing.peak === null
      ? "not counted"
      : `at most ${tokensText(drawing.peak.tokens)} tokens in turn ${drawing.peak.turn}`,
    countText(count("rollover"), "rollover"),
    `${countText(count("compaction"), "compaction")}. The same numbers are in the table.`,
  ].join(", ");
  return (
    <div ref={ref}>
      {width === 0 ? null : (
        <svg
          class="chart"
          viewBox={`0 0 ${width} ${AREA.height}`}
          width={width}
          height={AREA.height}
          role="img"
          aria-label={said}
        >
          <Carriers bands={drawing.bands} />
          <Marks marks={drawing.marks} />
          <Context drawing={drawing} width={width} />
          <Costs turns={drawing.turns} width={width} />
        </svg>
      )}
    </div>
  );
}
