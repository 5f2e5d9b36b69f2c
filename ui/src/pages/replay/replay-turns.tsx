import type { JSX } from "preact";
import type { ReplayDetails } from "#edges/http/client/index";
import { safeLine } from "#transfer/shown/shown-text";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";
import { countText } from "../../parts/numbers.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { type ReplayStory, type StoryTurn, type TurnState, turnState, turnText } from "./replay-story.ts";

const ROW_PX = 34;
const ICONS: Readonly<Record<TurnState, readonly [IconName, string]>> = {
  running: ["replay", ""],
  same: ["check", "ok"],
  diverged: ["x", "bad"],
  stopped: ["stop", ""],
  failed: ["warn", "bad"],
};

function Turn({
  turn,
  of,
  model,
}: {
  readonly turn: StoryTurn;
  readonly of: number;
  readonly model: string;
}): JSX.Element {
  const state = turnState(turn);
  const [icon, tone] = ICONS[state];
  return (
    <div class={`replay-turn is-${state}`}>
      <span class={`state-icon ${tone}`}>
        <Icon name={icon} />
      </span>
      <span class="num">{`${turn.number} of ${of}`}</span>
      <code class="cut muted">{safeLine(model)}</code>
      <span class="cut grow">{safeLine(turnText(turn))}</span>
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
  if (turns.length === 0) return null;
  return (
    <section class="block" aria-labelledby="turns-h">
      <div class="block-head">
        <h2 id="turns-h">Turns</h2>
        <span class="muted">calls are compared by name, arguments and order; words are not</span>
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
          return <Turn turn={turn} of={details.plan.prompts} model={models[turn.model]?.model ?? ""} />;
        }}
      />
    </section>
  );
}
