import type { ComponentType, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { ConnectionBanner } from "./frame/connection-banner.tsx";
import { onKey, useKeys } from "./frame/keys.ts";
import { MobileBar } from "./frame/narrow/mobile-bar.tsx";
import { openOverlay, Overlays } from "./frame/overlays.tsx";
import { Said } from "./frame/said.tsx";
import { Sidebar } from "./frame/sidebar.tsx";
import { useHealth } from "./frame/store-foot.tsx";
import { MissingPage } from "./pages/missing-page.tsx";
import { type PageProps, type PageRow, PAGES } from "./pages/pages.ts";
import { lazy } from "./parts/lazy.tsx";
import { matchPath, type PathParams } from "./router/addresses.ts";
import { navigate, path } from "./router/location.ts";
import { tour } from "./tour/tour-under-way.ts";

interface Opened {
  readonly row: PageRow;
  readonly params: PathParams;
}

const COMPONENTS: ReadonlyMap<PageRow, ComponentType<PageProps>> = new Map(
  PAGES.map((row) => [row, lazy(async () => (await row.load()).Page)]),
);
const ConversationFrame = lazy(
  async () => (await import("./pages/conversation/conversation-frame.tsx")).ConversationFrame,
);

const TourCard = lazy(async () => (await import("./tour/tour-card.tsx")).TourCard);

function pageAt(address: string): Opened | null {
  for (const row of PAGES) {
    const params = matchPath(row.path, address);
    if (params !== null) return { row, params };
  }
  return null;
}

function OpenedPage(): JSX.Element {
  const opened = pageAt(path.value);
  useEffect(() => {
    document.title = opened === null ? "Holdfast" : `${opened.row.title} · Holdfast`;
  }, [opened?.row]);
  const Page = opened === null ? undefined : COMPONENTS.get(opened.row);
  if (opened === null || Page === undefined) return <MissingPage />;
  if (opened.row.isTab !== true) return <Page params={opened.params} />;
  const { conversation = "" } = opened.params;
  // What was written or asked for in one is never shown, or saved, in another.
  return (
    <ConversationFrame key={conversation} conversation={conversation} tab={opened.row}>
      <Page params={opened.params} />
    </ConversationFrame>
  );
}

/** The pattern of what a summary stands for; drawn once, named by styles. */
function Patterns(): JSX.Element {
  return (
    <svg width="0" height="0" class="sr" aria-hidden="true">
      <defs>
        <pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="hatch-bg" width="4" height="4" />
          <line class="hatch-line" x1="0" y1="0" x2="0" y2="4" />
        </pattern>
      </defs>
    </svg>
  );
}

export function App(): JSX.Element {
  useHealth();
  useKeys([
    onKey("palette", () => openOverlay("palette")),
    onKey("help", () => openOverlay("keys")),
    onKey("toHistory", () => navigate("/")),
  ]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <div class="app">
        <Sidebar />
        <main id="main" tabIndex={-1}>
          <ConnectionBanner />
          <OpenedPage />
        </main>
        <MobileBar />
      </div>
      <Patterns />
      {tour.value === null ? null : <TourCard />}
      <Overlays />
      <Said />
    </>
  );
}
