import { nameOf } from "../../text/conversation-name.ts";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { Ago } from "../../parts/shown-time.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { addressOf, conversationAddress } from "../../router/addresses.ts";
import { query } from "../../router/location.ts";
import { WhatReplayDoes } from "./form/about-replay.tsx";
import { ReplayForm } from "./form/replay-form.tsx";
import { ReplayList } from "./replay-list.tsx";
import "../../styles/pages/replay.css";

const OFFERED = 8;

function nonEmpty(name: string): string | null {
  const value = query.value.get(name);
  return value === "" ? null : value;
}

/** The form for a conversation or a run, once it is known what of it could be replayed. */
function Asking({
  conversation,
  run,
}: {
  readonly conversation: string | null;
  readonly run: string | null;
}): JSX.Element {
  const [from, leaf] = [nonEmpty("at"), nonEmpty("leaf")];
  const { value, error, reload } = useLoaded(
    (signal) =>
      client.planReplay(
        {
          ...(run === null ? {} : { run }),
          ...(conversation === null ? {} : { conversation }),
          ...(leaf === null || run !== null ? {} : { at: leaf }),
          ...(from === null ? {} : { from }),
        },
        { signal },
      ),
    [conversation, run, from, leaf],
  );
  if (error !== null) return <Failure error={error} retry={reload} />;
  return value === null ? <GhostRows /> : <ReplayForm offer={value} from={from} />;
}

/** Conversations one may begin with. */
function Choose(): JSX.Element {
  const { value, error, reload } = useLoaded(
    async (signal) => (await client.listConversations({ limit: OFFERED }, { signal })).conversations,
    [],
  );
  return (
    <section class="block" aria-labelledby="choose-h">
      <div class="block-head">
        <h2 id="choose-h">Replay a conversation</h2>
        <span class="muted">or start at any message with “Replay from here”</span>
      </div>
      {error === null ? null : <Failure error={error} retry={reload} />}
      {value?.length === 0 ? (
        <p class="muted">
          No conversations yet.{" "}
          <a class="link" href="/">
            Start one in the history
          </a>
        </p>
      ) : null}
      <ul class="replay-sources">
        {(value ?? []).map(({ conversation, title, updatedAt }) => (
          <li key={conversation}>
            <a href={addressOf("/replay", { conversation })}>
              <Icon name="replay" />
              <span class="cut grow">{nameOf(conversation, title)}</span>
              <span class="faint">
                <Ago time={updatedAt} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What is to be replayed, and what was before. */
export function Page(): JSX.Element {
  const [conversation, run] = [nonEmpty("conversation"), nonEmpty("run")];
  useEffect(() => void (document.title = "Replay · Holdfast"), []);
  return (
    <>
      <header class="head">
        <div class="head-row">
          <h1>Replay</h1>
          <span class="muted cut">Send the same prompts again, to any model, on separate forks</span>
          <span class="grow" />
          {conversation === null ? null : (
            <a class="btn" href={conversationAddress(conversation)}>
              <Icon name="left" />
              Back to the conversation
            </a>
          )}
        </div>
      </header>
      <div class="with-about">
        <div>
          {conversation === null && run === null ? (
            <Choose />
          ) : (
            <Asking conversation={conversation} run={run} />
          )}
        </div>
        <WhatReplayDoes />
      </div>
      <ReplayList conversation={conversation} />
    </>
  );
}
