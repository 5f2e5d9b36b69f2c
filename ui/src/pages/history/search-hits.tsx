import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { countText } from "../../parts/numbers.ts";
import { conversationAddress } from "../../router/addresses.ts";
import { nameOf } from "../../text/conversation-name.ts";
import { MarkedText } from "../../text/marked-text.tsx";

const HITS_MAX = 50;

/** Entries of any conversation that hold every word. */
export function SearchHits({ words }: { readonly words: string }): JSX.Element | null {
  const { value, error, reload } = useLoaded(
    (signal) => client.search({ q: words, limit: HITS_MAX }, { signal }),
    [words],
  );
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null)
    return (
      <p class="muted searching" role="status">
        Searching…
      </p>
    );
  const { hits } = value;
  return (
    <section class="hits" aria-label="Matches in message text">
      <h2 class="group">
        <span>
          {hits.length === HITS_MAX ? `The newest ${HITS_MAX} hits` : countText(hits.length, "hit")} in text
        </span>
        <span class="rule" />
      </h2>
      <ol>
        {hits.map(({ conversation, title, entry, seq, snippet }) => (
          <li key={`${conversation} ${entry}`}>
            <a class="hit" href={conversationAddress(conversation, "", { at: entry })}>
              <span class="cut">
                {nameOf(conversation, title)} <span class="faint">entry {seq}</span>
              </span>
              <span class="hit-text">
                <MarkedText text={safeLine(snippet)} words={words} />
              </span>
            </a>
          </li>
        ))}
      </ol>
    </section>
  );
}
