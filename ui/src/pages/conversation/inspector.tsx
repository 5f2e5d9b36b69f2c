import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import type { ThreadRow } from "#edges/http/client/views";
import type { ContentBlock } from "#log/message";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Carrier } from "../../parts/marks/carrier.tsx";
import { ChainList } from "../../parts/marks/chain-list.tsx";
import { costText, countText, tokensText } from "../../parts/numbers.ts";
import { conversationAddress } from "../../router/addresses.ts";
import { isPromptOf, wordsOf } from "../../text/message-words.ts";
import { Minimap } from "./minimap.tsx";
import { placeOf, type ThreadState } from "./thread/thread-state.ts";

const PROMPTS_SHOWN = 12;

/** Its first words, or what it shows in their place. */
function outlineWords(content: readonly ContentBlock[]): string {
  const words = safeLine(wordsOf(content).slice(0, 120));
  return words === "" ? `[${content.map(({ type }) => safeLine(type)).join(", ")}]` : words;
}

function Prompts({
  state,
  conversation,
  at,
}: {
  readonly state: ThreadState;
  readonly conversation: string;
  readonly at: string | null;
}): JSX.Element | null {
  const prompts = [...state.rows]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([, { entry }]) => (entry.type === "message" && isPromptOf(entry.message) ? [entry] : []))
    .slice(-PROMPTS_SHOWN);
  if (prompts.length === 0) return null;
  return (
    <section>
      <h2>Prompts</h2>
      <ol class="outline">
        {prompts.map(({ id, seq, message }) => (
          <li key={id}>
            <a
              href={conversationAddress(conversation, "", { at: id })}
              aria-current={id === at ? "true" : undefined}
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
            <dt>Carrier</dt>
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
        <dd>{row.hidden ? "hidden" : isSent ? "sent" : "folded into a summary"}</dd>
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
  state,
  conversation,
  at,
}: {
  readonly state: ThreadState;
  readonly conversation: string;
  readonly at: string | null;
}): JSX.Element {
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
              Chain <span class="faint">{countText(links.length, "link")}</span>
            </h2>
            <ChainList links={links} />
          </section>
        )}
        <Prompts state={state} conversation={conversation} at={at} />
        {row === null ? null : (
          <Selected row={row} isSent={row.place >= sentFrom} conversation={conversation} />
        )}
      </div>
    </aside>
  );
}
