import type { JSX } from "preact";
import { nextTheme, theme } from "../data/preferences.ts";
import { Icon } from "../parts/marks/icon.tsx";
import { type PageRow, PAGES } from "../pages/pages.ts";
import { path } from "../router/location.ts";
import { TourOffer } from "../tour/tour-offer.tsx";
import { keyWords } from "./key-table.ts";
import { openOverlay } from "./overlays.tsx";
import { recent } from "./recent.ts";
import { StoreFoot } from "./store-foot.tsx";

export const NAVIGATED: readonly PageRow[] = PAGES.filter(({ icon }) => icon !== undefined);

function Brand(): JSX.Element {
  return (
    <a class="brand" href="/">
      <svg viewBox="0 0 18 18" aria-hidden="true">
        <path class="log" d="M11 2v14" />
        <path class="u1" d="M5.5 2v5.5" />
        <path class="u2" d="M5.5 9.5V16" />
      </svg>
      Holdfast
    </a>
  );
}

function Views(): JSX.Element {
  return (
    <div class="views">
      <h2 class="caption">Recent</h2>
      <ul class="nav">
        {recent.value.map(({ conversation, title }) => (
          <li key={conversation}>
            <a href={`/c/${encodeURIComponent(conversation)}`}>
              <span class="cut">{title}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

export function Sidebar(): JSX.Element {
  return (
    <nav class="side" aria-label="Main">
      <Brand />
      <button
        class="jump"
        type="button"
        aria-label={`Search ${keyWords("mod+k")}`}
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => openOverlay("palette")}
      >
        <Icon name="search" />
        <span>Search</span> <kbd>{keyWords("mod+k")}</kbd>
      </button>
      <ul class="nav">
        {NAVIGATED.map(({ path: to, title, icon }) => (
          <li key={to}>
            <a href={to} aria-current={path.value === to ? "page" : undefined} title={title}>
              <Icon name={icon ?? "history"} />
              <span class="label">{title}</span>
            </a>
          </li>
        ))}
      </ul>
      {recent.value.length === 0 ? null : <Views />}
      <div class="store">
        <TourOffer />
        <StoreFoot />
        <span class="store-foot">
          <span>Theme: {theme.value}</span>
          <button class="btn quiet icon small" type="button" aria-label="Switch theme" onClick={nextTheme}>
            <Icon name="theme" />
          </button>
        </span>
      </div>
    </nav>
  );
}
