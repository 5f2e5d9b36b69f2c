import { nameOf } from "../../../text/conversation-name.ts";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { client } from "../../../data/api-client.ts";
import { useLoaded } from "../../../data/loaded.ts";
import { Failure } from "../../../parts/failure.tsx";
import { Icon } from "../../../parts/marks/icon.tsx";
import { Ago } from "../../../parts/shown-time.tsx";
import { addressOf } from "../../../router/addresses.ts";

const SHOWN = 20;

/** No conversation was named: the latest, or those with these words in their titles. */
export function PickConversation(): JSX.Element {
  const [words, setWords] = useState("");
  const { value, error, reload } = useLoaded(
    (signal) =>
      client.listConversations({ limit: SHOWN, ...(words === "" ? {} : { title: words }) }, { signal }),
    [words],
  );
  return (
    <section class="pick" aria-label="Which conversation">
      <h2>Which conversation?</h2>
      <span class="field">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Filter by title"
          placeholder="Filter by title"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
      </span>
      {error === null ? null : <Failure error={error} retry={reload} />}
      <ul>
        {(value?.conversations ?? []).map(({ conversation, title, updatedAt }) => (
          <li key={conversation}>
            <a class="pick-row" href={addressOf("/export", { conversation })}>
              <span class="cut">{nameOf(conversation, title)}</span>
              <span class="mono faint cut">{conversation}</span>
              <span class="faint num">
                <Ago time={updatedAt} />
              </span>
            </a>
          </li>
        ))}
      </ul>
      {value?.conversations.length === 0 ? <p class="muted">No conversations match.</p> : null}
    </section>
  );
}
