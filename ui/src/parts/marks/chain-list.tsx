import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import { Carrier, carrierTone } from "./carrier.tsx";
import { isCurrent, type Links, startWords } from "./session-start.ts";

/** Every agent session, why it started and which entries it carried. */
export function ChainList({ links }: { readonly links: Links }): JSX.Element {
  return (
    <ol class="chain">
      {links.map(({ id, carried }, place) => (
        <li key={place} data-up={carrierTone(place)}>
          <Carrier place={place} />
          <span class="why">
            {isCurrent(links, place) ? "current · " : ""}started: {startWords(links, place)}
          </span>
          <span class="range">
            {carried === null ? "–" : `${carried.fromSeq}–${isCurrent(links, place) ? "" : carried.toSeq}`}
          </span>
          <span class="id cut">{safeLine(id)}</span>
        </li>
      ))}
    </ol>
  );
}
