import type { JSX } from "preact";
import type { ReplayDetails } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { Icon } from "../../parts/marks/icon.tsx";
import { countText, spentText, tokensText } from "../../parts/numbers.ts";
import { addressOf, conversationAddress } from "../../router/addresses.ts";
import { type ModelEnd, modelText, type ReplayStory, type StoryModel } from "./replay-story.ts";

function Verdict({ end }: { readonly end: ModelEnd | null }): JSX.Element {
  if (end === null) return <span class="muted">running</span>;
  const isSame = end.divergence === null;
  return (
    <span class={isSame ? "replay-verdict is-same" : "replay-verdict"}>
      <Icon name={isSame ? "check" : "x"} />
      <span>
        {safeLine(modelText(end))}
        {end.missed.length === 0 ? "" : `. No recorded result for ${countText(end.missed.length, "call")}`}
      </span>
    </span>
  );
}

function Row({
  details,
  of,
  isFirst,
}: {
  readonly details: ReplayDetails;
  readonly of: StoryModel;
  readonly isFirst: boolean;
}): JSX.Element {
  const { conversation, entry } = details.plan.source;
  const { model, end, conversation: fork } = of;
  const isOver = details.status !== "running";
  return (
    <article class="replay-result" aria-label={`Result of ${safeLine(model)}`}>
      <div class="grow">
        <p>
          <code>{safeLine(model)}</code> <Verdict end={end} />
        </p>
        {end === null ? null : (
          <p class="faint">
            {`${end.sent} of ${countText(end.prompts, "prompt")} sent, ${countText(end.steps, "answer")}, ${countText(end.calls, "call")}, ${tokensText(end.usage.inputTokens + end.usage.outputTokens)} tokens, ${spentText(end.usage)}`}
          </p>
        )}
      </div>
      <span class="tag">
        <Icon name="replay" />
        replay
      </span>
      <a class="btn" href={conversationAddress(fork)}>
        <Icon name="fork" />
        Open its fork
      </a>
      <a
        class={isOver && isFirst ? "btn primary" : "btn"}
        href={addressOf("/diff", { a: `${conversation}@${entry}`, b: fork })}
      >
        <Icon name="swap" />
        Compare with the original
      </a>
    </article>
  );
}

/** What each model made of it, and where that can be looked at. */
export function ModelResults({
  details,
  story,
}: {
  readonly details: ReplayDetails;
  readonly story: ReplayStory;
}): JSX.Element {
  return (
    <section class="block" aria-labelledby="results-h">
      <div class="block-head">
        <h2 id="results-h">Results</h2>
        <span class="muted">each on its own fork, not in the total</span>
      </div>
      {story.models.length === 0 ? <p class="muted">No forks yet.</p> : null}
      {story.models.map((of, at) => (
        <Row key={of.conversation} details={details} of={of} isFirst={at === 0} />
      ))}
    </section>
  );
}
