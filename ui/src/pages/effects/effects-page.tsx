import type { JSX } from "preact";
import { client } from "../../data/api-client.ts";
import { type Loaded, useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { countText } from "../../parts/numbers.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { changeQuery, query } from "../../router/location.ts";
import { useReloadOn } from "../conversation/reload-on.ts";
import type { PageProps } from "../pages.ts";
import { EffectItem } from "./effect-item.tsx";
import { countsOf, type EffectState, effectRows, type ListedEffect, STATES } from "./effect-order.ts";

const ROW_PX = 40;
const WORDS: Readonly<Record<EffectState, string>> = {
  unknown: "Unknown",
  failed: "Failed",
  not_started: "Not started",
  done: "Done",
};

function useEffects(conversation: string): Loaded<readonly ListedEffect[]> {
  const loaded = useLoaded(
    async (signal) => (await client.listEffects({ conversation }, { signal })).effects,
    [conversation],
  );
  useReloadOn(loaded, conversation, ["turn_end", "tool_intent"]);
  return loaded;
}

function Filter({
  effects,
  state,
}: {
  readonly effects: readonly ListedEffect[];
  readonly state: EffectState | null;
}): JSX.Element {
  const counts = countsOf(effects);
  return (
    <span class="seg" role="group" aria-label="Which effects">
      <button
        type="button"
        aria-pressed={state === null}
        onClick={() => changeQuery({ state: null, call: null })}
      >
        All {effects.length}
      </button>
      {STATES.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={state === one}
          onClick={() => changeQuery({ state: one, call: null })}
        >
          {WORDS[one]} {counts[one]}
        </button>
      ))}
    </span>
  );
}

/** What the tools did to the world, on every branch; what nobody knows the outcome of comes first. */
export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const { value, error, reload } = useEffects(conversation);
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <GhostRows />;
  const asked = query.value.get("state");
  const state = STATES.find((one) => one === asked) ?? null;
  const rows = effectRows(value, state);
  const open = query.value.get("call");
  const unknown = countsOf(value).unknown;
  return (
    <section class="block" aria-label="Effects">
      <div class="block-head">
        <h2>Effects</h2>
        <span class="muted">
          {countText(value.length, "call")} on all branches
          {unknown === 0 ? "" : `; ${unknown} with unknown outcome: verify before you retry`}
        </span>
        <span class="grow" />
        {value.length === 0 ? null : <Filter effects={value} state={state} />}
      </div>
      {rows.length === 0 ? (
        <p class="muted">
          {value.length === 0 ? "No tool calls. Nothing outside was changed." : "No calls in this state."}
        </p>
      ) : (
        <VirtualList
          key={state ?? ""}
          count={rows.length}
          role="list"
          rowRole="listitem"
          label="Effects"
          estimate={() => ROW_PX}
          keyOf={(index) => rows[index]?.place ?? index}
          render={(index) => {
            const row = rows[index];
            if (row === undefined) return <div />;
            const isOpen = open === String(row.place);
            return (
              <EffectItem
                conversation={conversation}
                row={row}
                isOpen={isOpen}
                toggle={() => changeQuery({ call: isOpen ? null : String(row.place) })}
              />
            );
          }}
        />
      )}
    </section>
  );
}
