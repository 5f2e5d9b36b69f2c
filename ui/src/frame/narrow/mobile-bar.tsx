import type { JSX } from "preact";
import { Icon } from "../../parts/marks/icon.tsx";
import { path } from "../../router/location.ts";
import { openOverlay } from "../overlays.tsx";
import { NAVIGATED } from "../sidebar.tsx";

/** So many pages have room in it. */
export const BAR_PAGES = 3;

/** At a phone's width the side bar is at the foot: the first pages, search, and the rest behind one more button. */
export function MobileBar(): JSX.Element {
  return (
    <nav class="mobile-bar" aria-label="Main, narrow">
      {NAVIGATED.slice(0, BAR_PAGES).map(({ path: to, title, icon }) => (
        <a key={to} href={to} aria-current={path.value === to ? "page" : undefined}>
          <Icon name={icon ?? "history"} />
          {title}
        </a>
      ))}
      <button type="button" onClick={() => openOverlay("palette")}>
        <Icon name="search" />
        Search
      </button>
      <button type="button" onClick={() => openOverlay("more")}>
        <Icon name="more" />
        More
      </button>
    </nav>
  );
}
