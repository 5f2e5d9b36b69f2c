import { nameOf } from "../../text/conversation-name.ts";
import type { ComponentChildren, JSX } from "preact";
import { stateText } from "#operations/text";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { ChainList } from "../../parts/marks/chain-list.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { costText, countText, spentText, tokensIn, tokensText } from "../../parts/numbers.ts";
import { clockText } from "../../parts/shown-time.tsx";
import { Strip } from "../../parts/marks/strip.tsx";
import { addressOf, conversationAddress } from "../../router/addresses.ts";
import { wordsOf } from "../../text/message-words.ts";
import { EffectLines } from "./effect-lines.tsx";
import { type Listed, stripOf } from "./history-rows.ts";

function Row({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function About({ listed }: { readonly listed: Listed }): JSX.Element {
  const { summary } = listed;
  const usage = summary?.usage;
  const until = summary?.turn?.state === "ended" ? summary.turn.resetAt : null;
  return (
    <dl class="kv">
      <Row name="Status">{stateText(listed.state, until === null ? null : clockText(until))}</Row>
      {summary?.model == null ? null : (
        <Row name="Model">
          {safeLine(summary.model)}
          {summary.agent === null ? null : (
            <>
              {" "}
              through <span class="mono">{safeLine(summary.agent)}</span>
            </>
          )}
        </Row>
      )}
      <Row name="Cost">{usage === undefined ? costText(null) : spentText(usage)}</Row>
      <Row name="Tokens">
        in {tokensText(usage === undefined ? 0 : tokensIn(usage))}, out {tokensText(usage?.outputTokens ?? 0)}
      </Row>
      <Row name="Entries">{countText(listed.headSeq, "entry", "entries")}</Row>
      {listed.origin === null ? null : (
        <Row name="Fork of">
          <a
            class="link"
            href={conversationAddress(listed.origin.conversation, "", { at: listed.origin.entry })}
          >
            {listed.origin.conversation}@{listed.origin.entry}
          </a>
        </Row>
      )}
      {listed.damage === null ? null : <Row name="Damage">{safeLine(listed.damage)}</Row>}
    </dl>
  );
}

function LastWords({
  conversation,
  headSeq,
}: {
  readonly conversation: string;
  readonly headSeq: number;
}): JSX.Element | null {
  const { value } = useLoaded(
    (signal) => client.listHistory({ conversation, limit: 12, types: ["message"] }, { signal }),
    [conversation, headSeq],
  );
  const said = (value?.entries ?? [])
    .flatMap((entry) =>
      entry.type === "message" && entry.message.role !== "toolResult" ? [entry.message] : [],
    )
    .map((message) => ({ who: message.role === "user" ? "You" : "Agent", words: wordsOf(message.content) }))
    .filter(({ words }) => words !== "")
    .slice(-2);
  if (said.length === 0) return null;
  return (
    <section class="last">
      {said.map(({ who, words }, at) => (
        <p key={at}>
          <b>{who}</b> {safeLine(words.slice(0, 240))}
        </p>
      ))}
    </section>
  );
}

/** What is worth knowing of a conversation before it is opened. */
export function Preview({ listed }: { readonly listed: Listed }): JSX.Element {
  const { conversation, headSeq, title } = listed;
  const chain = useLoaded((signal) => client.getChain({ conversation }, { signal }), [conversation, headSeq]);
  return (
    <aside class="preview" aria-label="Preview of the selected conversation">
      <section>
        <h2>{nameOf(conversation, title)}</h2>
        <CopyButton text={conversation} what="id" />
        <Strip data={stripOf(listed)} width={330} />
      </section>
      <section>
        <About listed={listed} />
      </section>
      <LastWords conversation={conversation} headSeq={headSeq} />
      {(chain.value?.links.length ?? 0) === 0 ? null : (
        <section>
          <h3 class="caption">Sessions</h3>
          <ChainList links={chain.value?.links ?? []} />
        </section>
      )}
      <EffectLines conversation={conversation} headSeq={headSeq} />
      <div class="doit">
        <a class="btn" href={conversationAddress(conversation)}>
          Open
        </a>
        <a class="btn icon" href={addressOf("/export", { conversation })} aria-label="Export">
          <Icon name="out" />
        </a>
      </div>
    </aside>
  );
}
