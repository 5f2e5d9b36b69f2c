import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ReplayView } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { countText } from "../../parts/numbers.ts";
import { Ago } from "../../parts/shown-time.tsx";
import { ReplayStatus } from "./replay-status.tsx";

const PAGE = 50;
const PAGES_MAX = 20;

/** The newest of them, or of one conversation; a page of the list may hold few of those. */
async function readReplays(
  conversation: string | null,
  wanted: number,
  signal: AbortSignal,
): Promise<{ readonly replays: readonly ReplayView[]; readonly isWhole: boolean }> {
  const replays: ReplayView[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page: Awaited<ReturnType<typeof client.listReplays>> = await client.listReplays(
      {
        limit: PAGE,
        ...(conversation === null ? {} : { conversation }),
        ...(cursor === null ? {} : { cursor }),
      },
      { signal },
    );
    replays.push(...page.replays);
    cursor = page.next;
    if (cursor === null || replays.length >= wanted) break;
  }
  return { replays: replays.slice(0, wanted), isWhole: cursor === null && replays.length <= wanted };
}

function came({ progress }: ReplayView): string {
  if (progress === null) return "no result";
  return `${progress.matched} same, ${progress.diverged} different`;
}

function Row({ replay }: { readonly replay: ReplayView }): JSX.Element {
  const { plan, startedAt } = replay;
  return (
    <li>
      <a class="replay-row" href={`/replay/${encodeURIComponent(replay.replay)}`}>
        <ReplayStatus status={replay.status} />
        <span class="cut grow">
          <b>{safeLine(replay.title)}</b>
        </span>
        <span class="muted cut">{plan.models.map((model) => safeLine(model)).join(", ")}</span>
        <span class="muted">{plan.tools}</span>
        <span class="muted">{countText(plan.prompts, "prompt")}</span>
        <span class="muted">{came(replay)}</span>
        <span class="faint">
          <Ago time={startedAt} />
        </span>
      </a>
    </li>
  );
}

/** Replays that were begun before, here or in any other process. */
export function ReplayList({ conversation }: { readonly conversation: string | null }): JSX.Element {
  const [wanted, want] = useState(PAGE);
  const { value, error, reload } = useLoaded(
    (signal) => readReplays(conversation, wanted, signal),
    [conversation, wanted],
  );
  return (
    <section class="block" aria-labelledby="replays-h">
      <div class="block-head">
        <h2 id="replays-h">Earlier replays</h2>
        <span class="muted">{conversation === null ? "of all conversations" : "of this conversation"}</span>
      </div>
      {error === null ? null : <Failure error={error} retry={reload} />}
      {value?.replays.length === 0 ? <p class="muted">No replays yet.</p> : null}
      <ul class="replay-rows">
        {(value?.replays ?? []).map((replay) => (
          <Row key={replay.replay} replay={replay} />
        ))}
      </ul>
      {value === null || value.isWhole ? null : (
        <button class="link" type="button" onClick={() => want(wanted + PAGE)}>
          Show more
        </button>
      )}
    </section>
  );
}
