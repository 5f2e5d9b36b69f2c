import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { safeText } from "#transfer/shown/shown-text";
import { client } from "../../../data/api-client.ts";
import { attempted } from "./acts.ts";

const SHOWN_AT_ONCE = 200_000;

function sizeText(chars: number): string {
  return chars < 1_000_000 ? `${Math.ceil(chars / 1_000)} kB` : `${(chars / 1_000_000).toFixed(1)} MB`;
}

/** The rest of an entry that is too long to be sent with the others, as it was written, piece by piece. */
export function LongEntry({
  conversation,
  entry,
  chars,
}: {
  readonly conversation: string;
  readonly entry: string;
  readonly chars: number;
}): JSX.Element {
  const [text, setText] = useState<string | null>(null);
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const load = async (): Promise<void> => {
    const whole = await attempted(() => client.getEntry({ conversation, entry }));
    if (whole !== null) setText(JSON.stringify(whole, null, 2).replaceAll("\\n", "\n"));
  };
  if (text === null)
    return (
      <button class="link" type="button" onClick={() => void load()}>
        Show all ({sizeText(chars)})
      </button>
    );
  return (
    <>
      <pre class="code term long" tabIndex={0} role="region" aria-label="The whole entry">
        {safeText(text.slice(0, shown))}
      </pre>
      {shown >= text.length ? null : (
        <button class="link" type="button" onClick={() => setShown(shown + SHOWN_AT_ONCE)}>
          Show more ({sizeText(text.length - shown)} left)
        </button>
      )}
    </>
  );
}
