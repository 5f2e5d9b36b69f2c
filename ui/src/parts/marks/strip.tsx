import type { JSX } from "preact";
import type { StripData } from "./mark-data.ts";
import { countText } from "../numbers.ts";
import { carrierTone } from "./carrier.tsx";

const GAP = 2;

/** Longer logs have longer lines, but a hundred times as long is not a hundred times as wide. */
function stripLength(entries: number, width: number): number {
  return Math.min(width, Math.max(12, Math.log2(entries + 1) * (width / 10)));
}

/** The life of a conversation as one line: the log below, which never breaks, and above it those that carried it. */
export function Strip({
  data,
  width = 124,
}: {
  readonly data: StripData;
  readonly width?: number;
}): JSX.Element {
  const { entries, carriers, isLive, isUnclean } = data;
  const length = stripLength(entries, width - 6);
  const shown = Math.min(carriers, 24);
  const each = (length - GAP * (shown - 1)) / Math.max(1, shown);
  const said = [
    `${entries} entries`,
    countText(carriers, "session"),
    ...(isUnclean ? ["interrupted"] : []),
    ...(isLive ? ["running"] : []),
  ].join(", ");
  return (
    <svg class="strip" width={width} height="18" viewBox={`-1 0 ${width} 18`} role="img" aria-label={said}>
      <line class="log" x1="0" y1="12" x2={length} y2="12" />
      {Array.from({ length: shown }, (_, place) => (
        <rect
          key={place}
          class={carrierTone(place)}
          x={place * (each + GAP)}
          y="5"
          width={Math.max(1, each)}
          height="3"
        />
      ))}
      {isUnclean ? <path class="unknown" d={`M${length} 8.75l3.25 3.25-3.25 3.25-3.25-3.25z`} /> : null}
      {isLive ? <circle class="live" cx={length + 2} cy="12" r="2.5" /> : null}
    </svg>
  );
}
