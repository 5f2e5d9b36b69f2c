import type { JSX } from "preact";
import type { Run } from "#log/runs/run-row";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { Icon } from "../../parts/marks/icon.tsx";
import { countText, spentText, tokensText } from "../../parts/numbers.ts";
import { Ago } from "../../parts/shown-time.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { changeQuery } from "../../router/location.ts";
import { runState, triggerText } from "./run-words.ts";

const PAGE = 200;
const PAGES_MAX = 50;
const ROW_PX = 52;

/** Every run, the newest first, of a conversation or of all; `isWhole` is false where there are more than are read. */
export interface ListedRuns {
  readonly runs: readonly Run[];
  readonly isWhole: boolean;
}

export async function readRuns(conversation: string | null, signal: AbortSignal): Promise<ListedRuns> {
  const runs: Run[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page: Awaited<ReturnType<typeof client.listRuns>> = await client.listRuns(
      {
        newestFirst: true,
        limit: PAGE,
        ...(conversation === null ? {} : { conversation }),
        ...(cursor === null ? {} : { cursor }),
      },
      { signal },
    );
    runs.push(...page.runs);
    cursor = page.next;
    if (cursor === null) break;
  }
  return { runs, isWhole: cursor === null };
}

export function RunStatus({ run }: { readonly run: Run }): JSX.Element {
  const { words, tone, icon } = runState(run);
  return (
    <span class={`tag ${tone}`}>
      <Icon name={icon} />
      {safeLine(words)}
    </span>
  );
}

function Row({ run, isOpen }: { readonly run: Run; readonly isOpen: boolean }): JSX.Element {
  const { model, steps, prompts, usage, startedAt, seedCount, continues } = run;
  const facts = [
    model === null ? "unknown model" : safeLine(model),
    countText(prompts, "prompt"),
    countText(steps, "step"),
    `${tokensText(usage.inputTokens + usage.outputTokens)} tokens`,
    spentText(usage),
    ...(seedCount === 0 ? [] : [countText(seedCount, "seed")]),
    ...(continues === null ? [] : ["continues another"]),
  ];
  return (
    <button
      class={isOpen ? "run-row is-open" : "run-row"}
      type="button"
      aria-expanded={isOpen}
      onClick={() => changeQuery({ run: isOpen ? null : run.run, show: null })}
    >
      <span class="run-top">
        <RunStatus run={run} />
        <b class="cut grow">{safeLine(triggerText(run))}</b>
        <span class="faint">
          <Ago time={startedAt} />
        </span>
      </span>
      <span class="muted cut">{facts.join(" · ")}</span>
    </button>
  );
}

export function RunList({
  runs,
  open,
}: {
  readonly runs: readonly Run[];
  readonly open: string | null;
}): JSX.Element {
  return (
    <VirtualList
      count={runs.length}
      role="list"
      rowRole="listitem"
      label="Runs"
      estimate={() => ROW_PX}
      keyOf={(index) => index}
      render={(index) => {
        const run = runs[index];
        return run === undefined ? <div /> : <Row run={run} isOpen={run.run === open} />;
      }}
    />
  );
}
