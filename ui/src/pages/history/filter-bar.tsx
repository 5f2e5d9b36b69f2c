import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";
import type { Query } from "../../router/addresses.ts";
import { changeQuery } from "../../router/location.ts";
import { onKey, useKeys } from "../../frame/keys.ts";
import type { HistoryFilters } from "./history-filters.ts";

const TYPED_MS = 200;

function Toggle({
  on,
  icon,
  children,
  change,
}: {
  readonly on: boolean;
  readonly icon?: IconName;
  readonly children: string;
  readonly change: Query;
}): JSX.Element {
  const off = Object.fromEntries(Object.keys(change).map((name) => [name, null]));
  return (
    <button
      class={on ? "chip on" : "chip"}
      type="button"
      aria-pressed={on}
      onClick={() => changeQuery(on ? off : change)}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
      {on ? <Icon name="x" /> : null}
    </button>
  );
}

/** What the list is narrowed to; all of it is in the address. */
export function FilterBar({ filters }: { readonly filters: HistoryFilters }): JSX.Element {
  const { q, days, agent, tag, fork, archived } = filters;
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(q);
  useEffect(() => setTyped(q), [q]);
  useEffect(() => {
    const timer = setTimeout(() => typed !== q && changeQuery({ q: typed }), TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useKeys([onKey("filter", () => input.current?.focus())]);
  return (
    <div class="filters" role="search">
      <span class="field">
        <Icon name="search" />
        <input
          ref={input}
          type="search"
          aria-label="Filter by title, or search all text"
          placeholder="Filter, or search all text"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <kbd class="wide">/</kbd>
      </span>
      {[7, 30].map((span) => (
        <Toggle key={span} on={days === span} change={{ days: String(span) }}>
          {`Last ${span} days`}
        </Toggle>
      ))}
      <Toggle on={fork} icon="fork" change={{ fork: "1" }}>
        Forks and replays
      </Toggle>
      <Toggle on={archived} change={{ archived: "1" }}>
        Archived
      </Toggle>
      {agent === null ? null : (
        <Toggle on change={{ agent }}>
          {`Agent ${agent}`}
        </Toggle>
      )}
      {tag === null ? null : (
        <Toggle on change={{ tag }}>
          {`Tag ${tag}`}
        </Toggle>
      )}
    </div>
  );
}
