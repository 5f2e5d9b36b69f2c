import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useAgents } from "../../data/agents.ts";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { changeQuery, query } from "../../router/location.ts";
import type { PageProps } from "../pages.ts";
import { Approvals } from "./compose/approvals.tsx";
import { Composer } from "./compose/composer.tsx";
import { Examples } from "./compose/examples.tsx";
import { GoOn } from "./compose/go-on.tsx";
import { agentFor, choiceFor } from "./compose/agent-choice.ts";
import { FindInside } from "./find/find-inside.tsx";
import { Inspector } from "./inspector.tsx";
import { openedConversation } from "./opened-conversation.ts";
import { showTabTools } from "./tab-tools.ts";
import { Thread } from "./thread/thread.tsx";
import { placeOf } from "./thread/thread-state.ts";
import { ThreadStore, type ThreadWanted } from "./thread/thread-store.ts";
import { TroubleNotes } from "./trouble/trouble-notes.tsx";
import { viewIn, ViewModes } from "./view-modes.tsx";
import { troublesOf } from "./trouble/trouble-table.ts";

/** The store of what is shown; another branch is another store. */
function useThread({ conversation, leaf, at }: ThreadWanted): ThreadStore | null {
  const [store, setStore] = useState<ThreadStore | null>(null);
  const state = store?.state.value;
  const isRead = state !== undefined && state.page !== null;
  const isFar = at !== null && isRead && placeOf(state, at) === null;
  const [origin, setOrigin] = useState({ leaf, at });
  const around = origin.leaf === leaf ? origin.at : at; // no entry of another branch
  // An entry far from what is known is read around it, also one that was asked for before anything was known.
  useEffect(() => {
    if (origin.leaf !== leaf || isFar) setOrigin({ leaf, at });
  }, [leaf, at, isRead]);
  const opened = useRef<ThreadStore | null>(null);
  useEffect(() => {
    if (opened.current?.shows(conversation, leaf) === true && !isFar) return;
    opened.current?.close();
    opened.current = new ThreadStore({ conversation, leaf, at: around });
    setStore(opened.current);
  }, [conversation, leaf, around]);
  useEffect(() => () => opened.current?.close(), []);
  return store;
}

/** An entry that is not on the conversation's own branch is shown on its own, and what is written next goes on from there. */
function useOwnBranch(store: ThreadStore | null, leaf: string | null, at: string | null): void {
  const away = leaf !== null || at === null ? null : (store?.branchOf(at) ?? null);
  useEffect(() => {
    if (away !== null) changeQuery({ leaf: away });
  }, [away, at]);
}

export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const [leaf, at] = [query.value.get("leaf"), query.value.get("at")];
  const view = viewIn(query.value);
  const store = useThread({ conversation, leaf, at });
  useEffect(() => showTabTools(ViewModes), []);
  useOwnBranch(store, leaf, at);
  const known = useAgents();
  const opened = openedConversation(conversation);
  const state = store?.state.value;
  const turn = opened?.view.summary?.turn ?? null;
  if (state === undefined || store === null) return <GhostRows />;
  if (state.error !== null && state.page === null) return <Failure error={state.error} />;
  const isLeft = opened?.view.openTurn?.left === true;
  const isWorking = !isLeft && (state.live.turn !== null || opened?.isWorking === true);
  const isUnfinished = isLeft || (turn !== null && turn.state === "ended" && turn.outcome !== "completed");
  const by = { agent: opened?.view.summary?.agent ?? null, model: opened?.view.summary?.model ?? null };
  const agent = agentFor(conversation, known ?? [], by);
  const isStruck = agent !== undefined && troublesOf(agent).length > 0;
  const isNew = state.page !== null && state.page.length <= 1;
  return (
    <div class="with-inspector">
      <div class="thread-column">
        {state.page === null ? (
          <GhostRows />
        ) : (
          <Thread store={store} conversation={conversation} at={at} view={view} isLeft={isLeft} />
        )}
        <div class="dock">
          {isStruck && isNew ? <Examples conversation={conversation} /> : null}
          {isStruck ? <TroubleNotes agent={agent.agent} conversation={conversation} state={state} /> : null}
          {isUnfinished && !isWorking ? (
            <GoOn
              conversation={conversation}
              state={state}
              isLeft={isLeft}
              choice={choiceFor(conversation, known ?? [], by)}
              until={turn?.state === "ended" ? turn.resetAt : null}
            />
          ) : null}
          {state.page === null ? null : (
            <Approvals conversation={conversation} waiting={state.page.waiting} />
          )}
          <Composer
            conversation={conversation}
            isWorking={isWorking}
            leaf={leaf}
            isUntitled={opened !== null && opened.view.title === null}
            agents={known}
            by={by}
            seq={state.page?.headSeq ?? 0}
          />
        </div>
      </div>
      <Inspector store={store} conversation={conversation} at={at} />
      <FindInside conversation={conversation} />
    </div>
  );
}
