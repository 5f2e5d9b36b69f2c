import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { useLoaded } from "../../data/loaded.ts";
import { onKey, useKeys } from "../../frame/keys.ts";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { countText } from "../../parts/numbers.ts";
import { conversationAddress } from "../../router/addresses.ts";
import { changeQuery, query } from "../../router/location.ts";
import { useReloadOn } from "../conversation/reload-on.ts";
import type { PageProps } from "../pages.ts";
import { type ListedRuns, readRuns, RunList } from "./run-list.tsx";
import { RunDetails } from "./run-details.tsx";
import "../../styles/pages/runs.css";

function None({ conversation }: { readonly conversation: string }): JSX.Element {
  return (
    <div class="state-body">
      <p class="state-title" data-testid="no-runs">
        No runs
      </p>
      <p class="muted">
        A run is everything that follows one trigger: an email, a timer, a chat message. Holdfast’s agent
        loop, durable steps and replays create runs. External agents, such as the simulated one, do not.
      </p>
      <p>
        <a class="link" href={conversationAddress(conversation, "context")}>
          What a process would restore: the context
        </a>
      </p>
    </div>
  );
}

/** Moves from run to run by keys. */
function useRunKeys({ runs }: ListedRuns, open: string | null): void {
  const at = runs.findIndex(({ run }) => run === open);
  const go = (step: number): void => {
    const next = runs[Math.max(0, Math.min(runs.length - 1, at + step))];
    if (next !== undefined) changeQuery({ run: next.run, show: null });
  };
  useKeys([
    onKey("nextRun", () => go(1)),
    onKey("previousRun", () => go(-1)),
    onKey("closeRun", () => changeQuery({ run: null, show: null })),
  ]);
}

function Runs({
  listed,
  conversation,
}: {
  readonly listed: ListedRuns;
  readonly conversation: string;
}): JSX.Element {
  const open = query.value.get("run");
  useRunKeys(listed, open);
  const run = listed.runs.find((one) => one.run === open) ?? null;
  return (
    <div class={open === null ? "with-run" : "with-run is-open"}>
      <section class="run-list" aria-label="Runs">
        <div class="block-head">
          <h2>Runs</h2>
          <span class="muted">
            {countText(listed.runs.length, "run")}
            {listed.isWhole ? "" : " and more"}, the newest first
          </span>
        </div>
        <RunList runs={listed.runs} open={open} />
      </section>
      {open === null ? (
        <p class="muted run-hint">Select a run to see its steps and what would be restored at its end.</p>
      ) : (
        <RunDetails key={open} id={open} run={run} conversation={conversation} />
      )}
    </div>
  );
}

/** What ran in a conversation, and what each run would be gone on with. */
export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const loaded = useLoaded((signal) => readRuns(conversation, signal), [conversation]);
  useReloadOn(loaded, conversation, ["run_start", "run_end", "turn_end"]);
  const { value, error, reload } = loaded;
  useEffect(() => window.scrollTo(0, 0), [query.value.get("run")]);
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <GhostRows />;
  // A run of what it was forked from is not listed here, and can be looked at all the same.
  if (value.runs.length === 0 && query.value.get("run") === null) return <None conversation={conversation} />;
  return <Runs listed={value} conversation={conversation} />;
}
