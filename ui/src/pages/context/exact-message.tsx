import type { JSX } from "preact";
import { RawJson } from "../../parts/raw-json.tsx";

/** One message, word for word. */
export function ExactMessage({
  messages,
  place,
}: {
  /** Each as it would be sent. */
  readonly messages: readonly string[];
  readonly place: number;
}): JSX.Element {
  return (
    <div class="exact">
      <div class="exact-head">
        <b>Message {place + 1}</b>
        <span class="faint grow">of {messages.length}, as sent</span>
      </div>
      <RawJson key={place} text={messages[place] ?? ""} what={`message ${place + 1}`} />
    </div>
  );
}
