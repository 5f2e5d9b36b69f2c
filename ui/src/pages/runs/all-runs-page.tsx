import { nameOf } from "../../text/conversation-name.ts";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Run } from "#log/runs/run-row";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { countText, spentText, tokensText } from "../../parts/numbers.ts";
import { Ago } from "../../parts/shown-time.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { changeQuery, query } from "../../router/location.ts";
import { readRuns, RunStatus } from "./run-list.tsx";
import { triggerKinds, triggerText } from "./run-words.ts";
import "../../styles/pages/runs.css";

const ROW_PX = 34;

const TITLES = 500;

/** The titles of the conversations that changed last; of others the id has to do. */
async function readTitles(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const { conversations } = await client.listConversations({ limit: TITLES }, { signal });
  return new Map(conversations.map(({ conversation, title }) => [conversation, nameOf(conversation, title)]));
}

function Row({ run, title }: { readonly run: Run; readonly title: string }): JSX.Element {
  const { conversation, model, steps, usage, startedAt } = run;
  return (
    <a class="all-runs-row" href={conversationAddress(conversation, "runs", { run: run.run })}>
      <RunStatus run={run} />
      <b class="cut">{safeLine(triggerText(run))}</b>
      <span class="cut">{safeLine(title)}</span>
      <span class="muted cut">{safeLine(model ?? "")}</span>
      <span class="muted num">{countText(steps, "step")}</span>
      <span class="muted num">{tokensText(usage.inputTokens + usage.outputTokens)} tokens</span>
      <span class="muted num">{spentText(usage)}</span>
      <span class="faint num">
        <Ago time={startedAt} />
      </span>
    </a>
  );
}

function Triggers({
  runs,
  chosen,
}: {
  readonly runs: readonly Run[];
  readonly chosen: string | null;
}): JSX.Element {
  return (
    <span class="seg" role="group" aria-label="Trigger">
      <button type="button" aria-pressed={chosen === null} onClick={() => changeQuery({ trigger: null })}>
        All {runs.length}
      </button>
      {triggerKinds(runs).map(([type, count]) => (
        <button
          key={type}
          type="button"
          aria-pressed={chosen === type}
          onClick={() => changeQuery({ trigger: type })}
        >
          {safeLine(type)} {count}
        </button>
      ))}
    </span>
  );
}

/** What ran when, in all conversations. */
export function Page(): JSX.Element {
  const { value, error, reload } = useLoaded((signal) => readRuns(null, signal), []);
  const titles = useLoaded(readTitles, []).value;
  useEffect(() => void (document.title = "Runs · Holdfast"), []);
  const trigger = query.value.get("trigger");
  const runs = (value?.runs ?? []).filter((run) => trigger === null || run.trigger.type === trigger);
  return (
    <>
      <header class="head">
        <div class="head-row">
          <h1>Runs</h1>
          <span class="muted cut">One run per prompt or trigger, newest first</span>
          <span class="grow" />
          {value === null || value.runs.length === 0 ? null : <Triggers runs={value.runs} chosen={trigger} />}
        </div>
      </header>
      {error === null ? null : <Failure error={error} retry={reload} />}
      {value === null && error === null ? <GhostRows /> : null}
      {value?.isWhole === false ? (
        <p class="block muted">The newest {value.runs.length.toLocaleString("en-US")} are listed.</p>
      ) : null}
      {value !== null && runs.length === 0 ? (
        <div class="state-body">
          <p class="state-title">{value.runs.length === 0 ? "No runs yet" : "No runs match"}</p>
          <p class="muted">
            Holdfast’s agent loop, durable steps and replays create runs. Try a replay of any conversation:{" "}
            <a class="link" href="/replay">
              Replay
            </a>
          </p>
        </div>
      ) : null}
      <VirtualList
        key={trigger ?? ""}
        count={runs.length}
        role="list"
        rowRole="listitem"
        label="Runs of all conversations"
        estimate={() => ROW_PX}
        keyOf={(index) => index}
        render={(index) => {
          const run = runs[index];
          return run === undefined ? (
            <div />
          ) : (
            <Row run={run} title={titles?.get(run.conversation) ?? run.conversation} />
          );
        }}
      />
    </>
  );
}
