import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import { Icon, type IconName } from "../../../parts/marks/icon.tsx";
import { SearchField } from "../../../parts/search-field.tsx";
import type { Query } from "../../../router/addresses.ts";
import { changeQuery } from "../../../router/location.ts";
import { FilterSelect } from "./filter-select.tsx";
import type { HistoryFilters, StatusFilter } from "./history-filters.ts";
import { type SeenValues, seenValues } from "./seen-values.ts";

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
  ["working", "running"],
  ["waiting", "waiting for you"],
  ["unclean", "interrupted or failed"],
  ["limited", "paused (rate limit)"],
];
const COST_CHOICES: readonly (readonly [string, string])[] = ["0.1", "1", "10", "100"].map((dollars) => [
  dollars,
  `$${dollars} or more`,
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
      : [...STATUS_CHOICES, ["agent_only", `not imported (${agentSessions})`] as const];
  return (
    <div class="filters" role="search">
      <SearchField
        words={q}
        label="Filter by title, or search all text"
        placeholder="Filter, or search all text"
        act="filter"
      />
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
