import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { MemoryScopeView, MemoryView } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { live } from "../../data/live-stream.ts";
import { useLoaded } from "../../data/loaded.ts";
import { mayWrite } from "../../frame/store-foot.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { countText } from "../../parts/numbers.ts";
import { SearchField } from "../../parts/search-field.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { changeQuery, query } from "../../router/location.ts";
import { logOf, type ScopeAsked, scopeChoices, scopeIn, scopeText } from "./asked-scope.ts";
import { RememberForm } from "./remember-form.tsx";
import { RememberedItem } from "./remembered-item.tsx";

const ROW_PX = 44;
const FOUND_MAX = 200;

interface Shown {
  readonly scopes: readonly MemoryScopeView[];
  readonly memories: readonly MemoryView[];
}

/** What the address asks for: of one scope, those that are remembered, removed, or found. */
function useShown(asked: ScopeAsked, words: string, removed: boolean): ReturnType<typeof useLoaded<Shown>> {
  const loaded = useLoaded<Shown>(
    async (signal) => {
      const [{ scopes }, memories] = await Promise.all([
        client.listMemoryScopes(undefined, { signal }),
        words.trim() === "" || removed
          ? client.listMemory({ ...asked, removed }, { signal }).then((listed) => listed.memories)
          : client
              .searchMemory({ ...asked, q: words, limit: FOUND_MAX }, { signal })
              .then((found) => found.hits),
      ]);
      return { scopes, memories };
    },
    [scopeText(asked), words, removed],
  );
  const log = loaded.value === null ? null : logOf(loaded.value.scopes, asked);
  // Whoever writes to it, this tab or another process.
  useEffect(() => {
    if (log === null) return undefined;
    return live.watch(log.log, log.headSeq, () => loaded.reload());
  }, [log?.log]);
  return loaded;
}

function ScopeChoice({
  scopes,
  asked,
}: {
  readonly scopes: readonly MemoryScopeView[];
  readonly asked: ScopeAsked;
}): JSX.Element {
  return (
    <label class="row-flex">
      <span class="muted">Of</span>
      <select
        class="btn memory-scope"
        value={scopeText(asked) ?? ""}
        onChange={({ currentTarget }) =>
          changeQuery({ scope: currentTarget.value, key: null, edit: null, q: null })
        }
      >
        {scopeChoices(scopes, asked).map(([value, words]) => (
          <option key={value} value={value}>
            {safeLine(words)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Nothing({ words, removed }: { readonly words: string; readonly removed: boolean }): JSX.Element {
  if (removed)
    return (
      <p class="muted" data-testid="nothing-removed">
        Nothing to restore.
      </p>
    );
  if (words.trim() !== "")
    return (
      <p class="muted">
        No memory matches.{" "}
        <button class="link" type="button" onClick={() => changeQuery({ q: null })}>
          Show all
        </button>
      </p>
    );
  return (
    <div class="state-body start">
      <p class="state-title" data-testid="no-memory">
        No memory yet
      </p>
      <p class="muted">
        Memory outlives conversations. Agents with memory get the newest notes, and those that match the
        prompt, with every prompt. Models add notes with the tool <code>remember</code>, which asks you first.
        Add notes here, or run:
      </p>
      <p>
        <CopyButton text={'holdfast memory add "Answers are in German"'} what="command" />
      </p>
    </div>
  );
}

function Listed({
  memories,
  asked,
  log,
}: {
  readonly memories: readonly MemoryView[];
  readonly asked: ScopeAsked;
  readonly log: MemoryScopeView | null;
}): JSX.Element {
  const open = query.value.get("key");
  return (
    <VirtualList
      key={scopeText(asked) ?? ""}
      count={memories.length}
      role="list"
      rowRole="listitem"
      label="Memory"
      estimate={() => ROW_PX}
      keyOf={(index) => memories[index]?.key ?? index}
      render={(index) => {
        const memory = memories[index];
        if (memory === undefined) return <div />;
        const isOpen = open === memory.key;
        return (
          <RememberedItem
            memory={memory}
            asked={asked}
            log={log?.log ?? null}
            isOpen={isOpen}
            toggle={() => changeQuery({ key: isOpen ? null : memory.key, edit: null })}
          />
        );
      }}
    />
  );
}

function Tools({
  shown,
  asked,
  words,
  removed,
}: {
  readonly shown: Shown | null;
  readonly asked: ScopeAsked;
  readonly words: string;
  readonly removed: boolean;
}): JSX.Element {
  const log = shown === null ? null : logOf(shown.scopes, asked);
  return (
    <div class="block-head memory-tools" role="search">
      <ScopeChoice scopes={shown?.scopes ?? []} asked={asked} />
      {removed ? null : (
        <SearchField
          words={words}
          label="Search memory"
          placeholder="Search, in any language"
          act="searchMemory"
        />
      )}
      <button
        class={removed ? "chip on" : "chip"}
        type="button"
        aria-pressed={removed}
        onClick={() => changeQuery({ removed: removed ? null : "1", key: null, q: null, edit: null })}
      >
        Removed
        {removed ? <Icon name="x" /> : null}
      </button>
      <span class="muted" role="status">
        {shown === null ? "" : countText(shown.memories.length, "memory", "memories")}
      </span>
      <span class="grow" />
      {log === null ? null : (
        <a class="link" href={conversationAddress(log.log, "log")}>
          Its log
        </a>
      )}
    </div>
  );
}

/** Memory in one scope; all of it is in the address. */
export function RememberedPart(): JSX.Element {
  const asked = scopeIn(query.value.get("scope"));
  const words = query.value.get("q") ?? "";
  const removed = query.value.get("removed") === "1";
  const { value, error, reload } = useShown(asked, words, removed);
  const isNew = query.value.get("edit") === "new" && mayWrite.value;
  return (
    <section class="block memory" aria-label="Memory">
      <Tools shown={value} asked={asked} words={words} removed={removed} />
      {isNew ? (
        <RememberForm
          key={scopeText(asked) ?? ""}
          asked={asked}
          of={null}
          done={(saved) => {
            changeQuery({ edit: null, key: saved?.key ?? null });
            if (saved !== null) reload();
          }}
        />
      ) : null}
      {error === null ? null : <Failure error={error} retry={reload} />}
      {value === null ? (
        error === null ? (
          <GhostRows />
        ) : null
      ) : value.memories.length === 0 ? (
        <Nothing words={words} removed={removed} />
      ) : (
        <Listed memories={value.memories} asked={asked} log={logOf(value.scopes, asked)} />
      )}
    </section>
  );
}
