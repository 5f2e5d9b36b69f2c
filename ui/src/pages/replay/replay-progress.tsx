import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ReplayDetails } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { costText, countText, elapsedText, spentText, tokensText } from "../../parts/numbers.ts";
import { type ReplayStory, turnState } from "./replay-story.ts";

const SECOND_MS = 1_000;
const CELLS_MAX = 300;
const BAR = 1_000;

/** How long it has run, or took. */
function Elapsed({ details }: { readonly details: ReplayDetails }): JSX.Element {
  const { startedAt, endedAt, status } = details;
  const [nowMs, setNow] = useState(Date.now());
  const isRunning = status === "running";
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  if (!isRunning && endedAt === null) return <>not known</>;
  return <>{elapsedText((endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt))}</>;
}

interface Spent {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number | null;
  readonly unpricedAnswers: number;
}

/** A cell for each turn of a model; where there are too many to see, as much of the bar as is done. */
function TurnBar({
  story,
  model,
  turns,
}: {
  readonly story: ReplayStory;
  readonly model: number;
  readonly turns: number;
}): JSX.Element {
  const own = story.turns.filter((turn) => turn.model === model);
  const done = own.filter(({ end }) => end !== null).length;
  const name = story.models[model]?.model ?? "";
  const cell = BAR / Math.max(1, turns);
  const gap = turns > CELLS_MAX ? 0 : Math.min(4, cell / 4);
  return (
    <svg
      class="turn-bar"
      viewBox={`0 0 ${BAR} 10`}
      preserveAspectRatio="none"
      role="progressbar"
      aria-label={`Turns of ${safeLine(name)}`}
      aria-valuemin={0}
      aria-valuemax={turns}
      aria-valuenow={done}
      aria-valuetext={`${done} of ${turns} turns`}
    >
      <rect class="track" width={BAR} height="10" />
      {own.map((turn) => (
        <rect
          key={turn.number}
          class={turnState(turn)}
          x={(turn.number - 1) * cell}
          width={Math.max(0.5, cell - gap)}
          height="10"
        />
      ))}
    </svg>
  );
}

/** Turns, what was the same, what it costs and for how long. */
export function ReplayProgress({
  details,
  story,
}: {
  readonly details: ReplayDetails;
  readonly story: ReplayStory;
}): JSX.Element {
  const { plan, status } = details;
  const progress = story.progress ?? details.progress;
  const spent = (progress?.spent ?? null) as Spent | null;
  const { maxCostMicros = null } = plan;
  const cards: readonly (readonly [string, JSX.Element])[] = [
    ["Turn", <>{`${progress?.turn ?? 0} of ${plan.prompts}`}</>],
    ["Same calls", <>{String(progress?.matched ?? 0)}</>],
    ["Different calls", <>{String(progress?.diverged ?? 0)}</>],
    [
      "Spent",
      <>
        {spent === null ? costText(0) : spentText(spent)}
        <span class="sub">
          {" "}
          {maxCostMicros === null ? "no limit" : `of ${costText(maxCostMicros)} for each model`}
        </span>
      </>,
    ],
    ["Tokens", <>{tokensText((spent?.inputTokens ?? 0) + (spent?.outputTokens ?? 0))}</>],
    ["Time", <Elapsed details={details} />],
  ];
  const told =
    status !== "running"
      ? ""
      : (story.pause ??
        `Turn ${progress?.turn ?? 0} of ${plan.prompts}, ${countText(progress?.diverged ?? 0, "divergence")}`);
  return (
    <>
      <dl class="cards replay-cards">
        {cards.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {story.models.map(({ model, conversation }, at) => (
        <div key={conversation} class="turn-bar-row">
          <code class="cut">{safeLine(model)}</code>
          <TurnBar story={story} model={at} turns={plan.prompts} />
        </div>
      ))}
      <p class="sr" role="status">
        {told}
      </p>
      {story.pause === null || status !== "running" ? null : <p class="muted">{safeLine(story.pause)}</p>}
    </>
  );
}
