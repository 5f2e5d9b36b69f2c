import type { JSX } from "preact";
import { safeText } from "#transfer/shown/shown-text";
import { CopyIcon } from "../../text/copy-icon.tsx";
import type { Exact } from "./context-rows.ts";

const SHOWN_MAX = 60_000;

/** One message, word for word. */
export function ExactMessage({
  exact,
  place,
}: {
  readonly exact: Exact;
  readonly place: number;
}): JSX.Element {
  const message = exact.messages[place];
  const text = JSON.stringify(message, null, 2) ?? "";
  return (
    <div class="exact">
      <div class="exact-head">
        <b>Message {place + 1}</b>
        <span class="faint grow">of {exact.messages.length}, as sent</span>
        <CopyIcon text={text} what="JSON" />
      </div>
      <pre tabIndex={0} role="region" aria-label="Message as JSON">
        {safeText(text.slice(0, SHOWN_MAX)).replaceAll("\\n", "\n")}
        {text.length > SHOWN_MAX ? "…" : ""}
      </pre>
    </div>
  );
}
