import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import type { ThreadRow } from "#edges/http/client/views";
import type { ContentBlock } from "#log/message";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Carrier } from "../../parts/marks/carrier.tsx";
import { ChainList } from "../../parts/marks/chain-list.tsx";
import { costText, tokensText } from "../../parts/numbers.ts";
import { conversationAddress } from "../../router/addresses.ts";
import { isPromptOf, wordsOf } from "../../text/message-words.ts";
import { Minimap } from "./minimap.tsx";
import { isWholeRead, placeOf } from "./thread/thread-state.ts";
import type { ThreadStore } from "./thread/thread-store.ts";

const [PROMPTS_BEFORE, PROMPTS_SHOWN] = [5, 12];

/** Its first words, or what it shows in their place. */
function outlineWords(content: readonly ContentBlock[]): string {
  const words = safeLine(wordsOf(content).slice(0, 120));
  return words === "" ? `[${content.map(({ type }) => safeLine(type)).join(", ")}]` : words;
}

/** The prompts around the screen: where only a part of a conversation was read, they are not called all. */
function Prompts({
  store,
  conversation,
  at,
}: {
  readonly store: ThreadStore;
  readonly conversation: string;
  readonly at: string | null;
}): JSX.Element | null {
  const state = store.state.value;
  const known = [...state.rows]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([place, { entry }]) =>
      entry.type === "message" && isPromptOf(entry.message) ? [{ ...entry, place }] : [],
    );
  if (known.length === 0) return null;
  const selected = known.findIndex(({ id }) => id === at);
  const onScreen = known.findLastIndex(({ place }) => place <= store.shown.value.first + 1);
  const current = Math.max(0, selected === -1 ? onScreen : selected);
  const from = Math.max(0, Math.min(current - PROMPTS_BEFORE, known.length - PROMPTS_SHOWN));
  const prompts = known.slice(from, from + PROMPTS_SHOWN);
  const isAll = isWholeRead(state) && prompts.length === known.length;
  return (
    <section>
      <h2>{isAll ? "Prompts" : "Prompts nearby"}</h2>
      <ol class="outline">
        {prompts.map(({ id, seq, message }) => (
          <li key={id}>
            <a
              href={conversationAddress(conversation, "", { at: id })}
              aria-current={id === known[current]?.id ? "true" : undefined}
            >
              <span class="n">{seq}</span>
              <span class="cut">{outlineWords(message.content)}</span>
            </a>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Selected({
  row,
  isSent,
  conversation,
}: {
  readonly row: ThreadRow;
  readonly isSent: boolean;
  readonly conversation: string;
}): JSX.Element {
  const { entry, carriers, siblings } = row;
  const usage =
    entry.type === "message" && entry.message.role === "assistant" ? entry.message.usage : undefined;
  return (
    <section>
      <h2>
        <span class="nowrap">Entry {entry.seq}</span>{" "}
        <CopyButton text={`${conversation}@${entry.id}`} what="address" />
      </h2>
      <dl class="kv">
        <dt>Type</dt>
        <dd>{entry.type.replaceAll("_", " ")}</dd>
        {carriers.length === 0 ? null : (
          <>
            <dt>Session</dt>
            <dd>
              {carriers.map((place, at) => (
                <span key={at}>
                  {at === 0 ? "" : ", then "}
                  <Carrier place={place} />
                </span>
              ))}
            </dd>
          </>
        )}
        <dt>Context</dt>
        <dd>{row.hidden ? "hidden" : isSent ? "sent" : "summarized"}</dd>
        {usage === undefined ? null : (
          <>
            <dt>Sent</dt>
            <dd>
              {tokensText(usage.inputTokens ?? 0)} tokens, {tokensText(usage.cacheReadTokens ?? 0)} cached
            </dd>
            <dt>Answered</dt>
            <dd>
              {tokensText(usage.outputTokens ?? 0)} tokens, {costText(usage.costMicros ?? null)}
            </dd>
          </>
        )}
        <dt>Siblings</dt>
        <dd>{siblings.length < 2 ? "none" : siblings.length - 1}</dd>
      </dl>
    </section>
  );
}

/** The map of the log, its chain, its prompts, and what is known of the entry that is selected. */
export function Inspector({
  store,
  conversation,
  at,
}: {
  readonly store: ThreadStore;
  readonly conversation: string;
  readonly at: string | null;
}): JSX.Element {
  const state = store.state.value;
  const place = at === null ? null : placeOf(state, at);
  const row = place === null ? null : (state.rows.get(place) ?? null);
  const { chain: links = [], sentFrom = 0 } = state.page ?? {};
  return (
    <aside class="inspector" aria-label="About this conversation">
      <Minimap state={state} />
      <div class="inspector-body">
        {links.length === 0 ? null : (
          <section>
            <h2>
              Sessions <span class="faint">{links.length}</span>
            </h2>
            <ChainList links={links} />
          </section>
        )}
        <Prompts store={store} conversation={conversation} at={at} />
        {row === null ? null : (
          <Selected row={row} isSent={row.place >= sentFrom} conversation={conversation} />
        )}
      </div>
    </aside>
  );
}
