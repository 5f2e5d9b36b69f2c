import type { JSX } from "preact";
import { carrierTone } from "../../parts/marks/carrier.tsx";
import { countText } from "../../parts/numbers.ts";
import { isWholeRead, lastRow, type ThreadState } from "./thread/thread-state.ts";

const HEIGHT = 700;
const TOP = 12;

/** The whole log upright: what is still sent, who carried which part, prompts and folds. */
export function Minimap({ state }: { readonly state: ThreadState }): JSX.Element {
  const { page, rows } = state;
  const links = page?.chain ?? [];
  const length = Math.max(1, page?.length ?? 1);
  const lastSeq = Math.max(1, page?.headSeq ?? 1, lastRow(state)?.entry.seq ?? 1);
  const yOfPlace = (place: number): number => TOP + (place / length) * HEIGHT;
  const yOfSeq = (seq: number): number => TOP + (Math.min(seq, lastSeq) / lastSeq) * HEIGHT;
  const sent = page?.sentFrom ?? 0;
  return (
    <svg
      class="minimap"
      viewBox={`0 0 26 ${HEIGHT + 2 * TOP}`}
      width="26"
      role="img"
      aria-label={`Map of the log: ${length} entries on this branch, ${countText(links.length, "session")}`}
    >
      <rect class="log pale" x="12" y={TOP} width="2" height={yOfPlace(sent) - TOP} />
      <rect class="log" x="12" y={yOfPlace(sent)} width="2" height={TOP + HEIGHT - yOfPlace(sent)} />
      {links.map(({ carried, inherited }, place) =>
        carried === null || inherited ? null : (
          <rect
            key={place}
            class={carrierTone(place)}
            x="6"
            y={yOfSeq(carried.fromSeq)}
            width="4"
            height={Math.max(3, yOfSeq(carried.toSeq) - yOfSeq(carried.fromSeq) - 2)}
          />
        ),
      )}
      {/* Marks of a part would read as those of all. */}
      {(isWholeRead(state) ? [...rows] : []).map(([place, { entry }]) =>
        entry.type === "message" && entry.message.role === "user" ? (
          <rect key={place} class="prompt" x="16" y={yOfPlace(place)} width="5" height="2" />
        ) : entry.type === "compaction" ? (
          <rect key={place} class="fold" x="10" y={yOfPlace(place) - 3} width="6" height="6" />
        ) : null,
      )}
    </svg>
  );
}
