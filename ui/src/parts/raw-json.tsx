import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { safeText } from "#transfer/shown/shown-text";
import { copyText } from "./copy-button.tsx";
import { Icon } from "./marks/icon.tsx";

const SHOWN_AT_ONCE = 100_000;

/** Something as JSON: what is read is made harmless, what is copied is as it came. */
export function RawJson({ value, what }: { readonly value: unknown; readonly what: string }): JSX.Element {
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const text = JSON.stringify(value, null, 2);
  const left = text.length - shown;
  return (
    <div class="raw-json">
      <button class="btn small" type="button" onClick={() => void copyText(text)}>
        <Icon name="copy" /> Copy JSON
        <span class="sr"> of {what}</span>
      </button>
      <pre class="code" tabIndex={0} role="region" aria-label={`JSON of ${what}`}>
        {safeText(text.slice(0, shown))}
      </pre>
      {left <= 0 ? null : (
        <button class="link" type="button" onClick={() => setShown(shown + SHOWN_AT_ONCE)}>
          Show more ({left.toLocaleString("en-US")} characters left)
        </button>
      )}
    </div>
  );
}
