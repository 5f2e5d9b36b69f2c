import type { JSX } from "preact";
import { safeText } from "#transfer/shown/shown-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { changeQuery } from "../../router/location.ts";
import { CopyIcon } from "../../text/copy-icon.tsx";

const SHOWN_MAX = 200_000;

/** One entry as it was written. */
export function RecordDetail({
  conversation,
  entry,
}: {
  readonly conversation: string;
  readonly entry: string;
}): JSX.Element {
  const { value, error } = useLoaded(
    (signal) => client.getEntry({ conversation, entry }, { signal }),
    [conversation, entry],
  );
  if (error !== null) return <Failure error={error} />;
  const text = value === null ? "" : JSON.stringify(value, null, 2);
  return (
    <aside class="aside" aria-label="The entry as it was written">
      <div class="exact">
        <div class="exact-head">
          <b class="grow cut">{entry}</b>
          <a class="link" href={conversationAddress(conversation, "", { at: entry })}>
            In the conversation
          </a>
          <CopyIcon text={text} what="JSON" />
          <button
            class="btn quiet icon small"
            type="button"
            aria-label="Close"
            onClick={() => changeQuery({ at: null })}
          >
            <Icon name="x" />
          </button>
        </div>
        <pre tabIndex={0} role="region" aria-label="JSON">
          {safeText(text.slice(0, SHOWN_MAX))}
        </pre>
      </div>
    </aside>
  );
}
