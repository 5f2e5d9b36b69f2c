import type { JSX } from "preact";
import { nextTheme, theme } from "../../data/preferences.ts";
import { Icon } from "../../parts/marks/icon.tsx";
import { path } from "../../router/location.ts";
import { startTour } from "../../tour/tour-under-way.ts";
import { Dialog } from "../dialog.tsx";
import { BAR_PAGES } from "./mobile-bar.tsx";
import { NAVIGATED } from "../sidebar.tsx";

/** What has no room in the bar at the foot. */
export function MorePages({ close }: { readonly close: () => void }): JSX.Element {
  return (
    <Dialog label="More" close={close}>
      <ul class="over-body">
        {NAVIGATED.slice(BAR_PAGES).map(({ path: to, title, icon }) => (
          <li key={to}>
            <a
              class="palette-row"
              href={to}
              aria-current={path.value === to ? "page" : undefined}
              onClick={close}
            >
              <Icon name={icon ?? "history"} />
              {title}
            </a>
          </li>
        ))}
        <li>
          <button
            class="palette-row"
            type="button"
            onClick={() => {
              close();
              void startTour();
            }}
          >
            <Icon name="runs" />
            Take the 2-minute tour
          </button>
        </li>
        <li>
          <button class="palette-row" type="button" onClick={nextTheme}>
            <Icon name="theme" />
            Switch theme <span class="where">{theme.value}</span>
          </button>
        </li>
      </ul>
    </Dialog>
  );
}
