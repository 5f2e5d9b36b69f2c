import type { JSX } from "preact";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { safeText } from "#transfer/shown/shown-text";
import { wordsOf } from "../../text/message-words.ts";
import type { PageProps } from "../pages.ts";

export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const { value, error, reload } = useLoaded(
    (signal) => client.listHistory({ conversation, types: ["message"] }, { signal }),
    [conversation],
  );
  if (error !== null) return <Failure error={error} retry={reload} />;
  return (
    <ol class="thread" aria-label="Entries">
      {(value?.entries ?? []).map((entry) =>
        entry.type === "message" ? (
          <li key={entry.id} class="entry">
            <span class="seq">{entry.seq}</span>
            <span class="rail" />
            <p class="msg">{safeText(wordsOf(entry.message.content))}</p>
          </li>
        ) : null,
      )}
    </ol>
  );
}
