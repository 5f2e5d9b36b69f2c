import type { ComponentType } from "preact";
import type { PathParams } from "../router/addresses.ts";
import type { IconName } from "../parts/marks/icon.tsx";

/** What a page is given; all else it finds in the query (`router/location.ts`). */
export interface PageProps {
  readonly params: PathParams;
}

export interface PageRow {
  /** Names in the path are `params`: `/c/:conversation`. */
  readonly path: string;
  readonly title: string;
  /** A module that exports `Page`; loaded when it is first opened. */
  readonly load: () => Promise<{ readonly Page: ComponentType<PageProps> }>;
  /** It is in the side bar, with this icon. */
  readonly icon?: IconName;
  /** It is a tab of a conversation: shown beneath its header, in the order of this table. */
  readonly isTab?: true;
  /** It shows what is left of a conversation that cannot be read whole. */
  readonly standsDamage?: true;
}

/** Every page of the UI. To add one: a folder beside this file, and its row here. */
export const PAGES: readonly PageRow[] = [
  { path: "/", title: "History", icon: "history", load: () => import("./history/history-page.tsx") },
  { path: "/usage", title: "Usage", icon: "usage", load: () => import("./usage/usage-page.tsx") },
  { path: "/runs", title: "Runs", icon: "runs", load: () => import("./runs/all-runs-page.tsx") },
  { path: "/replay", title: "Replay", icon: "replay", load: () => import("./replay/replay-page.tsx") },
  { path: "/replay/:replay", title: "One replay", load: () => import("./replay/one-replay-page.tsx") },
  {
    path: "/memory",
    title: "Memory",
    icon: "memory",
    load: () => import("./memory/memory-page.tsx"),
  },
  {
    path: "/import",
    title: "Import and export",
    icon: "transfer",
    load: () => import("./transfer/import/import-page.tsx"),
  },
  {
    path: "/settings",
    title: "Settings",
    icon: "settings",
    load: () => import("./settings/settings-page.tsx"),
  },
  {
    path: "/c/:conversation",
    title: "Conversation",
    isTab: true,
    load: () => import("./conversation/conversation-page.tsx"),
  },
  { path: "/c/:conversation/tree", title: "Tree", isTab: true, load: () => import("./tree/tree-page.tsx") },
  {
    path: "/c/:conversation/context",
    title: "Context",
    isTab: true,
    load: () => import("./context/context-page.tsx"),
  },
  {
    path: "/c/:conversation/log",
    title: "Log",
    isTab: true,
    standsDamage: true,
    load: () => import("./log/log-page.tsx"),
  },
  {
    path: "/c/:conversation/chain",
    title: "Sessions",
    isTab: true,
    load: () => import("./chain/chain-page.tsx"),
  },
  {
    path: "/c/:conversation/effects",
    title: "Effects",
    isTab: true,
    load: () => import("./effects/effects-page.tsx"),
  },
  {
    path: "/c/:conversation/issues",
    title: "Issues",
    isTab: true,
    load: () => import("./issues/issues-page.tsx"),
  },
  { path: "/c/:conversation/runs", title: "Runs", isTab: true, load: () => import("./runs/runs-page.tsx") },
  {
    path: "/c/:conversation/usage",
    title: "Usage",
    isTab: true,
    load: () => import("./usage/turn-usage-page.tsx"),
  },
  { path: "/export", title: "Export", load: () => import("./transfer/export/export-page.tsx") },
  { path: "/diff", title: "Compare", load: () => import("./diff/diff-page.tsx") },
];
