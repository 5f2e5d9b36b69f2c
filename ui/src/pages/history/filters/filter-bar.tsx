import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { safeLine } from "#transfer/shown/shown-text";
import { Icon, type IconName } from "../../../parts/marks/icon.tsx";
import type { Query } from "../../../router/addresses.ts";
import { changeQuery } from "../../../router/location.ts";
import { onKey, useKeys } from "../../../frame/keys.ts";
import { FilterSelect } from "./filter-select.tsx";
import type { HistoryFilters, StatusFilter } from "./history-filters.ts";
import { type SeenValues, seenValues } from "./seen-values.ts";

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

const STATUS_CHOICES: readonly (readonly [StatusFilter, string])[] = [
  ["working", "working now"],
  ["waiting", "waits for you"],
  ["unclean", "did not end well"],
  ["limited", "at a limit"],
];
const COST_CHOICES: readonly (readonly [string, string])[] = ["0.1", "1", "10", "100"].map((dollars) => [
  dollars,
  `from $${dollars}`,
]);
const SEEN: readonly (readonly [keyof SeenValues, string])[] = [
  ["folder", "Folder"],
  ["model", "Model"],
  ["agent", "Agent"],
  ["tag", "Tag"],
];

/** One for each thing by which what was listed can be told apart. */
function SeenFilters({ filters }: { readonly filters: HistoryFilters }): JSX.Element {
  const seen = seenValues.value;
  return (
    <>
      {SEEN.filter(([name]) => filters[name] !== null || seen[name].length > 1).map(([name, label]) => (
        <FilterSelect
          key={name}
          name={name}
          label={label}
          value={filters[name]}
          choices={seen[name].map((value) => [value, value])}
        />
      ))}
    </>
  );
}

function Words({ q }: { readonly q: string }): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(q);
  useLayoutEffect(() => setTyped(q), [q]); // with what is drawn: what is typed next is not lost
  useEffect(() => {
    const timer = setTimeout(() => typed !== q && changeQuery({ q: typed }), TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useKeys([onKey("filter", () => input.current?.focus())]);
  return (
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
  );
}

/** What the list is narrowed to; all of it is in the address. */
export function FilterBar({
  filters,
  agentSessions,
}: {
  readonly filters: HistoryFilters;
  /** How many sessions only agents have. */
  readonly agentSessions: number;
}): JSX.Element {
  const { q, days, status, label, cost, rolled, fork, archived } = filters;
  const statuses =
    agentSessions === 0
      ? STATUS_CHOICES
      : [...STATUS_CHOICES, ["agent_only", `only an agent has it (${agentSessions})`] as const];
  return (
    <div class="filters" role="search">
      <Words q={q} />
      {[7, 30].map((span) => (
        <Toggle key={span} on={days === span} change={{ days: String(span) }}>
          {`Last ${span} days`}
        </Toggle>
      ))}
      <FilterSelect name="status" label="Status" value={status} choices={statuses} />
      <SeenFilters filters={filters} />
      <FilterSelect
        name="cost"
        label="Cost"
        value={cost === null ? null : String(cost)}
        choices={COST_CHOICES}
      />
      <Toggle on={rolled} icon="roll" change={{ rolled: "1" }}>
        Rolled over
      </Toggle>
      <Toggle on={fork} icon="fork" change={{ fork: "1" }}>
        Forks and replays
      </Toggle>
      <Toggle on={archived} change={{ archived: "1" }}>
        Archived
      </Toggle>
      {label === null ? null : (
        <Toggle on icon="label" change={{ label }}>
          {`Label ${safeLine(label)}`}
        </Toggle>
      )}
    </div>
  );
}
