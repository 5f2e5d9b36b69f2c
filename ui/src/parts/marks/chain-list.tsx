import type { JSX } from "preact";
import { safeLine } from "#transfer/shown/shown-text";
import type { Api } from "#edges/http/client/index";
import { Carrier, carrierTone } from "./carrier.tsx";

type Links = Api["getChain"]["response"]["links"];

/** Every upstream session, why it began and which entries it carried. */
export function ChainList({ links }: { readonly links: Links }): JSX.Element {
  return (
    <ol class="chain">
      {links.map(({ id, reason, carried }, place) => (
        <li key={place} data-up={carrierTone(place)}>
          <Carrier place={place} />
          <span class="why">{safeLine(reason).replaceAll("_", " ")}</span>
          <span class="range">
            {carried === null ? "–" : `${carried.fromSeq}–${place === links.length - 1 ? "" : carried.toSeq}`}
          </span>
          <span class="id cut">{safeLine(id)}</span>
        </li>
      ))}
    </ol>
  );
}
