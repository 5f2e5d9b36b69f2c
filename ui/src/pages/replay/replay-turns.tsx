import type { JSX } from "preact";
import type { ReplayDetails, ReplayOffer } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";
import { countText } from "../../parts/numbers.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { type ReplayStory, type StoryTurn, type TurnState, turnState, turnText } from "./replay-story.ts";

const ROW_PX = 34;
const ICONS: Readonly<Record<TurnState, readonly [IconName, string]>> = {
  running: ["replay", ""],
  same: ["check", "ok"],
  diverged: ["x", "bad"],
  stopped: ["stop", ""],
  failed: ["warn", "bad"],
};

type Prompt = ReplayOffer["prompts"][number];

/** The prompts of the original by which message they are: events say no more of them. */
function usePrompts({ plan }: ReplayDetails): ReadonlyMap<number, Prompt> {
  const { conversation, entry, run } = plan.source;
  const { value } = useLoaded(
    async (signal) => {
      const asked = run === null ? { conversation, at: entry } : { run, conversation };
      const { prompts } = await client.planReplay(asked, { signal });
      return new Map(prompts.map((prompt) => [prompt.message, prompt]));
    },
    [conversation, entry, run],
  );
  return value ?? new Map();
}

interface TurnProps {
  readonly turn: StoryTurn;
  readonly details: ReplayDetails;
  readonly model: string;
  readonly prompt: Prompt | null;
}

function Turn({ turn, details: { plan }, model, prompt }: TurnProps): JSX.Element {
  const state = turnState(turn);
  const [icon, tone] = ICONS[state];
  return (
    <div class={`replay-turn is-${state}`}>
      <span class={`state-icon ${tone}`}>
        <Icon name={icon} />
      </span>
      <span class="num">{`${turn.number} of ${plan.prompts}`}</span>
      <code class="cut muted">{safeLine(model)}</code>
      {prompt === null ? (
        <span />
      ) : (
        <a class="cut" href={conversationAddress(plan.source.conversation, "", { at: prompt.entry })}>
          {safeLine(prompt.text)}
        </a>
      )}
      <span class="turn-words">{safeLine(turnText(turn))}</span>
      <span class="faint">{turn.end === null ? "" : countText(turn.end.steps, "answer")}</span>
    </div>
  );
}

/** What came of each prompt, in the order they were sent. */
export function ReplayTurns({
  details,
  story,
}: {
  readonly details: ReplayDetails;
  readonly story: ReplayStory;
}): JSX.Element | null {
  const { turns, models } = story;
  const prompts = usePrompts(details);
  if (turns.length === 0) return null;
  return (
    <section class="block" aria-labelledby="turns-h">
      <div class="block-head">
        <h2 id="turns-h">Turns</h2>
        <span class="muted">calls are compared by name, arguments and order; text is not</span>
      </div>
      <VirtualList
        count={turns.length}
        role="list"
        rowRole="listitem"
        label="Turns of the replay"
        estimate={() => ROW_PX}
        keyOf={(index) => index}
        render={(index) => {
          const turn = turns[index];
          if (turn === undefined) return <div />;
          return (
            <Turn
              turn={turn}
              details={details}
              model={models[turn.model]?.model ?? ""}
              prompt={prompts.get(turn.message) ?? null}
            />
          );
        }}
      />
    </section>
  );
}
