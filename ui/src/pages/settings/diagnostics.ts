import type { Api } from "#edges/http/client/index";
import type { Health, StoreView } from "#edges/http/client/views";

export type Findings = Api["checkSpace"]["response"]["findings"];

interface Known {
  readonly health: Health | null;
  readonly store: StoreView;
  /** Null: nobody looked. */
  readonly findings: Findings | null;
}

/** What helps others to help: versions and counts. No id, title, path, address or name of anybody's is in it. */
export function diagnosticsText({ health, store, findings }: Known, browser: string): string {
  const count = (severity: string): number =>
    (findings ?? []).filter((one) => one.severity === severity).length;
  const lines: readonly (readonly [string, string | number | boolean | null])[] = [
    ["version", health?.version ?? null],
    ["rights", health?.rights ?? null],
    ["readOnly", health?.readOnly ?? null],
    ["turns", health?.turns ?? null],
    ["streams", health?.streams ?? null],
    ["agents", health?.agents.length ?? null],
    ["store", store.kind],
    ["bytes", store.bytes],
    ["formatVersion", store.formatVersion],
    ["schemaVersion", store.schemaVersion],
    ["conversations", store.conversations],
    ["unlisted", store.unlisted],
    ["damaged", store.damaged.length],
    [
      "check",
      findings === null
        ? "not run"
        : `${count("damage")} damage, ${count("torn")} torn, ${count("note")} notes`,
    ],
    ["browser", browser.slice(0, 200)],
  ];
  return `${lines.map(([name, value]) => `${name}: ${value === null ? "not known" : String(value)}`).join("\n")}\n`;
}
