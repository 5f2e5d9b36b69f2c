import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ReplayDetails } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { say } from "../../frame/said.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { Moment } from "../../parts/shown-time.tsx";
import { addressOf, conversationAddress } from "../../router/addresses.ts";
import { Approvals } from "../conversation/compose/approvals.tsx";
import { attempted } from "../conversation/entry/acts.ts";
import type { PageProps } from "../pages.ts";
import { useReplay } from "./followed-replay.ts";
import { ModelResults } from "./model-results.tsx";
import { ReplayProgress } from "./replay-progress.tsx";
import { ReplayStatus } from "./replay-status.tsx";
import { ReplayTurns } from "./replay-turns.tsx";
import "../../styles/pages/replay.css";

/** Calls that wait for you in a conversation that a replay made. */
function Asked({
  conversation,
  round,
}: {
  readonly conversation: string;
  /** Changes whenever something may have come or gone. */
  readonly round: number;
}): JSX.Element | null {
  const { value, reload } = useLoaded(
    (signal) => client.listWaiting({ conversation }, { signal }),
    [conversation, round],
  );
  return value === null ? null : <Approvals conversation={conversation} waiting={value} onAnswer={reload} />;
}

function StopButton({ replay }: { readonly replay: string }): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  const stop = async (): Promise<void> => {
    setAsked(true);
    const done = await attempted(() => client.stopReplay({ replay }));
    if (done === null) setAsked(false);
    else say("Stopping. The results so far are saved.");
  };
  return (
    <button class="btn" type="button" disabled={isAsked} onClick={() => void stop()}>
      <Icon name="stop" />
      {isAsked ? (
        "Stopping"
      ) : (
        <span>
          Stop<span class="wide"> the replay</span>
        </span>
      )}
    </button>
  );
}

function Facts({ details }: { readonly details: ReplayDetails }): JSX.Element {
  const { plan, startedAt, replay } = details;
  const { conversation, entry, run } = plan.source;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    [
      "Original",
      <a key="of" class="link" href={conversationAddress(conversation, "", { at: entry })}>
        open it where the replay ends
      </a>,
    ],
    ...(run === null ? [] : [["Run", <code key="run">{safeLine(run)}</code>] as const]),
    ["Tools", TOOL_WORDS[plan.tools]],
    ...(plan.isPatched === true ? [["System prompt", "replaced; the fork records it"] as const] : []),
    ["Started", <Moment key="begun" time={startedAt} />],
    ["Id", <CopyButton key="id" text={replay} what="id of the replay" />],
  ];
  return (
    <dl class="replay-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const TOOL_WORDS: Readonly<Record<ReplayDetails["plan"]["tools"], string>> = {
  "dry-run": "dry-run: no side effects",
  recorded: "recorded: no tool runs",
  live: "live: every side effect needs your approval",
};

/** The form again, with what was chosen. */
function againAddress({ plan }: ReplayDetails): string {
  const { conversation, entry, run } = plan.source;
  return addressOf("/replay", {
    ...(run === null ? { conversation, leaf: entry } : { run, conversation }),
    tools: plan.tools === "dry-run" ? null : plan.tools,
  });
}

function Ending({ details }: { readonly details: ReplayDetails }): JSX.Element | null {
  const { status, message } = details;
  if (status === "lost")
    return (
      <div class="banner unknown" role="status">
        <Icon name="unknown" />
        <span>
          <b>The process running this replay stopped.</b> Its forks hold the results so far.
        </span>
      </div>
    );
  if (message === "" || status === "completed") return null;
  return (
    <div class={status === "failed" ? "banner bad" : "banner"} role="status">
      <Icon name={status === "failed" ? "warn" : "stop"} />
      <span>
        <b>{safeLine(message)}.</b> Its fork holds the results so far.
      </span>
    </div>
  );
}

/** One replay: how far it is, what came of each prompt, and how it differs. */
export function Page({ params }: PageProps): JSX.Element {
  const { replay = "" } = params;
  const { details, story, error, reload } = useReplay(replay);
  const title = details === null ? "Replay" : safeLine(details.title);
  useEffect(() => void (document.title = `${title} · Holdfast`), [title]);
  const isRunning = details?.status === "running";
  return (
    <>
      <header class="head">
        <div class="head-row">
          <a class="btn quiet icon" href="/replay" aria-label="All replays">
            <Icon name="left" />
          </a>
          <h1 class="cut">{title}</h1>
          {details === null ? null : <ReplayStatus status={details.status} />}
          <span class="grow" />
          {isRunning ? <StopButton replay={replay} /> : null}
          {details === null || isRunning ? null : (
            <a class="btn" href={againAddress(details)}>
              <Icon name="replay" />
              <span>
                Replay<span class="wide"> again</span>
              </span>
            </a>
          )}
        </div>
      </header>
      {error === null ? null : <Failure error={error} retry={reload} />}
      {details === null ? (
        error === null ? (
          <GhostRows />
        ) : null
      ) : (
        <>
          <section class="block" aria-label="Progress">
            <Facts details={details} />
            <ReplayProgress details={details} story={story} />
            <Ending details={details} />
            {story.asks === null || !isRunning ? null : (
              <Asked conversation={story.asks} round={story.turns.length} />
            )}
          </section>
          <ModelResults details={details} story={story} />
          <ReplayTurns details={details} story={story} />
          <p class="block faint">The original was not changed. Files and external effects are not undone.</p>
        </>
      )}
    </>
  );
}
