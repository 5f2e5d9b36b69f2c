import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { client } from "../../data/api-client.ts";
import { type DroppedFile, droppedFiles } from "../../data/dropped-files.ts";
import { useLoaded } from "../../data/loaded.ts";
import { onKey, useKeys } from "../../frame/keys.ts";
import { health } from "../../frame/store-foot.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { lazy } from "../../parts/lazy.tsx";
import { countText } from "../../parts/numbers.ts";
import { VirtualList, type WindowList } from "../../parts/virtual-list.tsx";
import { changeQuery, navigate, query } from "../../router/location.ts";
import { ConversationRow } from "./conversation-row.tsx";
import { FilterBar } from "./filters/filter-bar.tsx";
import { areFilters, filtersIn, meantSessions } from "./filters/history-filters.ts";
import {
  type AgentSession,
  agentRows,
  type HistoryRow,
  type Listed,
  rowKey,
  rowsOf,
} from "./history-rows.ts";
import { type ListedConversations, useListed } from "./listed-conversations.ts";
import { NewConversation } from "./empty/new-conversation.tsx";

// Beside or behind the rows, which do not wait for them.
const Preview = lazy(async () => (await import("./preview.tsx")).Preview);
const AgentSessionRow = lazy(async () => (await import("./agent-session-row.tsx")).AgentSessionRow);
const EmptyHistory = lazy(async () => (await import("./empty/empty-history.tsx")).EmptyHistory);
const FileDrop = lazy(async () => (await import("../../parts/file-drop.tsx")).FileDrop);
const SearchHits = lazy(async () => (await import("./search-hits.tsx")).SearchHits);

const selected: Signal<string | null> = signal(null);
let list: WindowList | null = null;

function Grouping({ by }: { readonly by: "day" | "folder" }): JSX.Element {
  return (
    <span class="wide row-flex">
      <span class="faint">Group by</span>
      <span class="seg" role="group" aria-label="Group by">
        <button type="button" aria-pressed={by === "day"} onClick={() => changeQuery({ by: null })}>
          Day
        </button>
        <button type="button" aria-pressed={by === "folder"} onClick={() => changeQuery({ by: "folder" })}>
          Folder
        </button>
      </span>
    </span>
  );
}

function Heads(): JSX.Element {
  return (
    <div role="rowgroup">
      <div class="list-row heads" role="row">
        <span role="columnheader">
          <span class="sr">Status</span>
        </span>
        <span role="columnheader">Conversation</span>
        <span role="columnheader">Sessions</span>
        <span role="columnheader">
          <span class="sr">Marks</span>
        </span>
        <span role="columnheader" class="num">
          Entries
        </span>
        <span role="columnheader" class="num">
          Cost
        </span>
        <span role="columnheader" class="num" aria-sort="descending">
          Active
        </span>
      </div>
    </div>
  );
}

function Row({ row, by }: { readonly row: HistoryRow; readonly by: "day" | "folder" }): JSX.Element {
  if (row.kind === "group")
    return (
      <div class="group" data-testid={row.more === undefined ? undefined : "found-here"}>
        <span role="cell">
          {row.name} {row.more === undefined ? null : <span class="group-more">{row.more}</span>}
        </span>
        <span class="rule" role="presentation" />
      </div>
    );
  if (row.kind === "agent_session") return <AgentSessionRow of={row.session} />;
  const { conversation } = row.listed;
  return (
    <ConversationRow
      listed={row.listed}
      isSelected={selected.value === conversation}
      select={() => (selected.value = conversation)}
      hasFolder={by === "day"}
    />
  );
}

function ImportButton(): JSX.Element {
  return (
    <a class="btn" href="/import" aria-label="Import">
      <Icon name="in" />
      <span class="wide">Import</span>
    </a>
  );
}

/** What only agents have: asked for once, since it is looked up in every log. */
function useAgentSessions(): readonly AgentSession[] {
  const isAllowed = health.value?.rights === "admin";
  const { value } = useLoaded(
    async (stop) => (isAllowed ? (await client.listAgentSessions(undefined, { signal: stop })).sessions : []),
    [isAllowed],
  );
  return value ?? [];
}

function take(files: readonly DroppedFile[]): void {
  droppedFiles.value = files;
  navigate("/import");
}

/** Goes so many conversations on in the list, and brings that one to the screen. */
function moveBy(rows: readonly HistoryRow[], step: number): void {
  const places = rows.flatMap((row, at) => (row.kind === "group" ? [] : [{ at, id: rowKey(row) }]));
  const now = places.findIndex(({ id }) => id === selected.value);
  const next = places[Math.min(places.length - 1, Math.max(0, now + step))];
  if (next === undefined) return;
  selected.value = next.id;
  list?.scrollToIndex(next.at, { align: "auto" });
  requestAnimationFrame(() => {
    document.querySelector<HTMLElement>(`[data-conversation="${CSS.escape(next.id)}"]`)?.focus();
  });
}

function Rows({
  found,
  rows,
  by,
}: {
  readonly by: "day" | "folder";
  readonly found: ListedConversations;
  readonly rows: readonly HistoryRow[];
}): JSX.Element {
  return (
    <div role="table" aria-label="Conversations" aria-rowcount={found.isWhole ? found.listed.length : -1}>
      <Heads />
      <VirtualList
        count={rows.length}
        role="rowgroup"
        rowRole="row"
        estimate={(at) => (rows[at]?.kind === "group" ? 30 : 34)}
        keyOf={(at) => {
          const row = rows[at];
          return row === undefined ? at : rowKey(row);
        }}
        render={(at) => {
          const row = rows[at];
          return row === undefined ? <span /> : <Row row={row} by={by} />;
        }}
        onReady={(made) => (list = made)}
        onRange={(_, last) => last > rows.length - 20 && found.more()}
      />
    </div>
  );
}

export function Page(): JSX.Element {
  const filters = filtersIn(query.value);
  const by = query.value.get("by") === "folder" ? "folder" : "day";
  const found = useListed(filters);
  const all = useAgentSessions();
  const sessions = meantSessions(all, filters, Date.now());
  const rows = [...rowsOf(found.listed, by, Date.now()), ...(found.isWhole ? agentRows(sessions) : [])];
  const [first] = found.listed;
  const current: Listed | undefined =
    found.listed.find(({ conversation }) => conversation === selected.value) ?? first;
  useEffect(() => {
    if (selected.value === null && first !== undefined) selected.value = first.conversation;
  }, [first?.conversation]);
  useKeys([
    onKey("nextConversation", () => moveBy(rows, 1)),
    onKey("previousConversation", () => moveBy(rows, -1)),
  ]);
  const isEmpty = !found.isLoading && found.error === null && found.listed.length === 0;
  const isNothing = isEmpty && sessions.length === 0;
  // What is empty by a filter is no empty store.
  const isFirstVisit = isNothing && !areFilters(filters);
  return (
    <div class={current === undefined ? "" : "with-preview"}>
      <div>
        <header class="head">
          <div class="head-row">
            <span class="row-flex">
              <h1>History</h1>
              <span class="faint">
                {found.isWhole
                  ? countText(found.listed.length, "conversation")
                  : `${found.listed.length}+ conversations`}
              </span>
            </span>
            <span class="grow" />
            <Grouping by={by} />
            {isFirstVisit ? null : <ImportButton />}
            {isFirstVisit ? null : <NewConversation />}
          </div>
          {isFirstVisit ? null : <FilterBar filters={filters} agentSessions={all.length} />}
        </header>
        {found.error === null ? null : <Failure error={found.error} retry={found.reload} />}
        {found.isLoading && found.listed.length === 0 ? <GhostRows /> : null}
        {isNothing && filters.q === "" ? <EmptyHistory isFiltered={areFilters(filters)} /> : null}
        {rows.length === 0 ? null : <Rows found={found} rows={rows} by={by} />}
        {filters.q === "" ? null : <SearchHits words={filters.q} />}
      </div>
      {current === undefined ? null : <Preview key={current.conversation} listed={current} />}
      <FileDrop take={take} />
    </div>
  );
}
