import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { safeText } from "#transfer/views/safe-text";
import { shownChars, sizeText } from "./shown-chars.ts";

const MORE_CHARS = 200_000;

/** A text that is too long to be shown whole, piece by piece and without colours. */
export function LongText({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const [shown, setShown] = useState(() => shownChars(text));
  return (
    <>
      <pre class="code term long" tabIndex={0} role="group" aria-label={label}>
        {safeText(text.slice(0, shown).toWellFormed())}
      </pre>
      {shown >= text.length ? null : (
        <button class="link" type="button" onClick={() => setShown(shown + MORE_CHARS)}>
          {text.length - shown > MORE_CHARS
            ? `Show more (${sizeText(text.length - shown)} left)`
            : `Show all (${sizeText(text.length)})`}
        </button>
      )}
    </>
  );
}
