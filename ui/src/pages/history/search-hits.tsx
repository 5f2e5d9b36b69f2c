import type { JSX } from "preact";
import { safeLine } from "#transfer/shown/shown-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { countText } from "../../parts/numbers.ts";
import { conversationAddress } from "../../router/addresses.ts";

const HITS_MAX = 50;

/** The text with every word that was asked for marked in it. */
function Marked({ text, words }: { readonly text: string; readonly words: string }): JSX.Element {
  const wanted = words
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => RegExp.escape(word));
  const parts = wanted.length === 0 ? [text] : text.split(new RegExp(`(${wanted.join("|")})`, "gi"));
  return <>{parts.map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}</>;
}

/** Entries of any conversation that hold every word. */
export function SearchHits({ words }: { readonly words: string }): JSX.Element | null {
  const { value, error, reload } = useLoaded(
    (signal) => client.search({ q: words, limit: HITS_MAX }, { signal }),
    [words],
  );
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return null;
  const { hits } = value;
  return (
    <section class="hits" aria-label="In the text of conversations">
      <h2 class="group">
        <span>
          {hits.length === HITS_MAX ? `The newest ${HITS_MAX} hits` : countText(hits.length, "hit")} in text
        </span>
        <span class="rule" />
      </h2>
      <ol>
        {hits.map(({ conversation, entry, seq, snippet }) => (
          <li key={`${conversation} ${entry}`}>
            <a class="hit" href={conversationAddress(conversation, "", { at: entry })}>
              <span class="mono faint cut">
                {conversation} · {seq}
              </span>
              <span class="hit-text">
                <Marked text={safeLine(snippet)} words={words} />
              </span>
            </a>
          </li>
        ))}
      </ol>
    </section>
  );
}
