import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { safeText } from "#transfer/views/safe-text";
import { shownChars, sizeText } from "./shown-chars.ts";

const MORE_CHARS = 200_000;

/** A text that is too long to be shown whole, piece by piece and without colors. */
export function LongText({
  text,
  label,
  isProse = false,
}: {
  readonly text: string;
  readonly label: string;
  /** What somebody wrote, not what a program printed; the first piece is longer. */
  readonly isProse?: boolean;
}): JSX.Element {
  const [shown, setShown] = useState(() => (isProse ? MORE_CHARS : shownChars(text)));
  const piece = safeText(text.slice(0, shown).toWellFormed());
  return (
    <>
      {isProse ? (
        <p class="plain" dir="auto">
          {piece}
        </p>
      ) : (
        <pre class="code term long" tabIndex={0} role="group" aria-label={label}>
          {piece}
        </pre>
      )}
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
