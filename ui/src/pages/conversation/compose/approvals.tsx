import type { JSX } from "preact";
import { safeLine, safeText } from "#transfer/views/safe-text";
import { client } from "../../../data/api-client.ts";
import { useLoaded } from "../../../data/loaded.ts";
import { Icon } from "../../../parts/marks/icon.tsx";
import { tellingArgument } from "../../../text/telling-argument.ts";
import { wordsOf } from "../../../text/message-words.ts";
import { attemptedOnce } from "../entry/acts.ts";

const WAITING_CHARS_MAX = 200;

/** Calls that wait for a person, and words that wait to be delivered. */
export function Approvals({
  conversation,
  round,
}: {
  readonly conversation: string;
  /** Changes whenever something may have come or gone. */
  readonly round: string;
}): JSX.Element | null {
  const { value, reload } = useLoaded(
    (signal) => client.listWaiting({ conversation }, { signal }),
    [conversation, round],
  );
  if (value === null || value.asked.length + value.queue.length === 0) return null;
  const decide = async (request: string, outcome: "allowed" | "denied"): Promise<void> => {
    await attemptedOnce(`answer ${request}`, () => client.answerRequest({ conversation, request, outcome }));
    reload();
  };
  return (
    <div class="waiting" role="group" aria-label="Waits for you">
      {value.asked.map(({ request, tool, input }) => (
        <div key={request} class="banner" role="alert">
          <Icon name="lock" />
          <span class="grow">
            <b>{safeLine(tool)}</b> <span class="mono">{tellingArgument(input)}</span>
            <details>
              <summary class="link">All of it</summary>
              <pre class="code term">{safeText(JSON.stringify(input, null, 2))}</pre>
            </details>
          </span>
          <button class="btn primary" type="button" onClick={() => void decide(request, "allowed")}>
            Allow
          </button>
          <button class="btn" type="button" onClick={() => void decide(request, "denied")}>
            Deny
          </button>
        </div>
      ))}
      {value.queue.map(({ steer, content }) => (
        <p key={steer} class="muted">
          Words wait to be delivered: {safeLine(wordsOf(content)).slice(0, WAITING_CHARS_MAX)}
        </p>
      ))}
    </div>
  );
}
