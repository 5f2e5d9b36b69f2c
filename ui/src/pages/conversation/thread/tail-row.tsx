import type { JSX } from "preact";
import { safeLine, safeText } from "#transfer/views/safe-text";
import { carrierTone } from "../../../parts/marks/carrier.tsx";
import { Words } from "../entry/message-body.tsx";
import { RibbonRow } from "../entry/ribbon-row.tsx";
import { ToolCard } from "../entry/tool-card.tsx";
import { type LiveTurn, saidBy } from "#log/projections/live-turn";
import { lastRow, type ThreadState } from "./thread-state.ts";

function Writing({
  live,
  conversation,
  place,
  isLeft,
  who,
}: {
  readonly live: LiveTurn;
  /** The model that answered last. */
  readonly who: string;
  readonly isLeft: boolean;
  readonly conversation: string;
  readonly place: number | null;
}): JSX.Element {
  const { calls, waiting } = live;
  const { text: words, thinking } = saidBy(live);
  return (
    <div class="entry" data-up={place === null ? undefined : carrierTone(place)}>
      <span class="seq" />
      <span class="rail">
        <span class="node" />
      </span>
      <div class="body">
        <article class="msg" aria-label={isLeft ? "Interrupted" : "Being written"} aria-busy={!isLeft}>
          <div class="msg-head">
            <span class="who">{safeLine(who)}</span>
            {isLeft ? (
              <span class="tag unknown" data-testid="interrupted">
                interrupted
              </span>
            ) : (
              <span class="tag ok">
                {words === "" ? (waiting === null ? "running" : "waiting") : "writing"}
              </span>
            )}
          </div>
          {thinking === "" || words !== "" ? null : (
            <p class="plain thoughts">{safeText(thinking.slice(-2_000))}</p>
          )}
          {words === "" ? null : <Words text={words} />}
          {waiting === null ? null : <p class="muted">{safeText(waiting)}</p>}
          {isLeft ? null : <span class="caret" />}
        </article>
        {calls.map(({ call, name, input, state }) => (
          <ToolCard
            key={call}
            shown={{
              call,
              name,
              input,
              state: state === "started" ? "running" : state,
              how: null,
              hasResult: state !== "started",
              tookMs: null,
            }}
            conversation={conversation}
          />
        ))}
      </div>
    </div>
  );
}

/** What lies behind the last message: how the turn ended, or what is being said. */
export function TailRow({
  state,
  conversation,
  isLeft,
}: {
  readonly state: ThreadState;
  readonly conversation: string;
  readonly isLeft: boolean;
}): JSX.Element {
  const { live, page } = state;
  const { changes = [], chain = [] } = page ?? {};
  const last = lastRow(state);
  return (
    <>
      {changes.map((change) => (
        <RibbonRow
          key={change.seq}
          change={change}
          conversation={conversation}
          before={last?.entry.id ?? null}
          carrier={chain.length === 0 ? null : Math.max(0, chain.length - 2)}
        />
      ))}
      {live.turn === null ? (
        <div class="thread-end" />
      ) : (
        <Writing
          live={live}
          isLeft={isLeft}
          who={page?.header.summary?.model ?? "Agent"}
          conversation={conversation}
          place={chain.length === 0 ? null : chain.length - 1}
        />
      )}
    </>
  );
}
