import type { JSX } from "preact";
import type { Api } from "#edges/http/client/index";
import type { TurnUsageView } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { costText, countText, spentText, tokensText, unpricedText } from "../../parts/numbers.ts";
import { openedConversation } from "../conversation/opened-conversation.ts";
import type { PageProps } from "../pages.ts";
import { TurnChart } from "./turn-chart.tsx";
import { TurnTable } from "./turn-table.tsx";
import { inputCard, UsageCards } from "./usage-cards.tsx";

type Total = Api["getUsage"]["response"]["total"];

/** What is new in it, beside what it shares with its source: that was paid there. */
function newCost({ inherited }: TurnUsageView, total: Total): string {
  const unknown = total.unpricedAnswers === 0 ? [] : [unpricedText(total.unpricedAnswers)];
  const shared = inherited === null ? "no inherited cost" : `new; ${spentText(inherited)} inherited`;
  return [shared, ...unknown].join(", ");
}

function Cards({ found, total }: { readonly found: TurnUsageView; readonly total: Total }): JSX.Element {
  const { turns, marks, window } = found;
  const peak = Math.max(0, ...turns.map(({ contextTokens }) => contextTokens ?? 0));
  const rolled = marks.filter(({ kind }) => kind === "rollover");
  const cold = turns.filter(({ number }) => rolled.some(({ turn }) => turn === number));
  const coldCost = cold.reduce((sum, { costMicros }) => sum + (costMicros ?? 0), 0);
  const folded = marks.filter(({ kind }) => kind === "compaction");
  const before = folded.reduce((sum, { tokensBefore }) => sum + (tokensBefore ?? 0), 0);
  return (
    <UsageCards
      cards={[
        {
          name: "Cost of this conversation",
          value: spentText(total),
          more: newCost(found, total),
        },
        inputCard(total),
        { name: "Tokens out", value: tokensText(total.outputTokens) },
        {
          name: "Peak context",
          value: peak === 0 ? "not counted" : tokensText(peak),
          more:
            peak === 0 || window === null
              ? ""
              : `${Math.round((peak / window) * 100)} % of ${tokensText(window)}`,
        },
        {
          name: "Rollovers",
          value: String(rolled.length),
          more: rolled.length === 0 ? "" : `${costText(coldCost)} in their first turns`,
        },
        {
          name: "Compactions",
          value: String(folded.length),
          more: before === 0 ? "" : `${tokensText(before)} before them`,
        },
        {
          name: "Replays (not in the total)",
          value: spentText(found.replays),
          more: found.replays.count === 0 ? "" : countText(found.replays.count, "replay"),
        },
      ]}
    />
  );
}

/** What the turns of a conversation used. */
export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const opened = openedConversation(conversation);
  const { value, error, reload } = useLoaded(
    async (signal) => {
      const [found, { total }] = await Promise.all([
        client.getTurnUsage({ conversation }, { signal }),
        client.getUsage({ conversation }, { signal }),
      ]);
      return { found, total };
    },
    [conversation, opened?.view.headSeq ?? 0],
  );
  if (value === null) return error === null ? <GhostRows /> : <Failure error={error} retry={reload} />;
  const { found, total } = value;
  const { turns, count } = found;
  const isReplay = opened?.view.summary?.run?.trigger === "replay";
  return (
    <div class="block">
      {error === null ? null : <Failure error={error} retry={reload} />}
      <div class="block-head">
        <h2>Usage</h2>
        <span class="muted">
          {countText(count, "turn")}
          {count > turns.length ? `; the newest ${turns.length} are listed` : ""}
        </span>
        {isReplay ? (
          <span class="tag" data-testid="is-replay">
            replay, not in any total
          </span>
        ) : null}
        <span class="grow" />
        <a class="link" href="/usage">
          All conversations
        </a>
      </div>
      <Cards found={found} total={total} />
      {turns.length === 0 ? (
        <p class="muted usage-none" data-testid="no-usage">
          No usage reported yet.
        </p>
      ) : (
        <>
          <TurnChart found={found} />
          <TurnTable found={found} name={safeLine(conversation)} />
        </>
      )}
      <p class="faint sheet-note">
        Context is the size of the last request of a turn, as the model counted it. Usage that a fork shares
        with its source counts once, in the source. Replays are not in any total.
      </p>
    </div>
  );
}
