import type { JSX } from "preact";
import { connection } from "../data/api-client.ts";
import { tourSeen } from "../data/preferences.ts";
import { Icon } from "../parts/marks/icon.tsx";
import { startTour } from "./tour-under-way.ts";

/** Until it was taken or declined. The palette and the list of keys have it for good. */
export function TourOffer(): JSX.Element | null {
  if (tourSeen.value === "yes" || connection.value === "signed_out") return null;
  return (
    <div class="tour-offer">
      <button class="btn small" type="button" onClick={() => void startTour()}>
        <Icon name="runs" />
        Take the tour
      </button>
      <button
        class="btn quiet icon small"
        type="button"
        aria-label="No tour"
        onClick={() => (tourSeen.value = "yes")}
      >
        <Icon name="x" />
      </button>
    </div>
  );
}
