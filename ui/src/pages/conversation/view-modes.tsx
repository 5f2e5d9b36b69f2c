import type { JSX } from "preact";
import { changeQuery, query } from "../../router/location.ts";

type View = "normal" | "focused" | "raw";
const VIEWS: readonly (readonly [View, string])[] = [
  ["normal", "Normal"],
  ["focused", "Focused"],
  ["raw", "Raw"],
];

export function viewIn(given: URLSearchParams): View {
  return VIEWS.find(([view]) => view === given.get("view"))?.[0] ?? "normal";
}

export function nextView(): void {
  const now = VIEWS.findIndex(([view]) => view === viewIn(query.value));
  const [next] = VIEWS[(now + 1) % VIEWS.length] ?? ["normal"];
  changeQuery({ view: next === "normal" ? null : next });
}

/** All of it; prompts and answers alone; or the entries as they are. */
export function ViewModes(): JSX.Element {
  const now = viewIn(query.value);
  return (
    <span class="seg" role="group" aria-label="View">
      {VIEWS.map(([view, name]) => (
        <button
          key={view}
          type="button"
          aria-pressed={view === now}
          onClick={() => changeQuery({ view: view === "normal" ? null : view })}
        >
          {name}
        </button>
      ))}
    </span>
  );
}
