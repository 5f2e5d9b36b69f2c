import type { JSX } from "preact";
import type { ThreadPage } from "#edges/http/client/views";
import { safeLine, safeText } from "#transfer/views/safe-text";
import { client } from "../../../data/api-client.ts";
import { Icon } from "../../../parts/marks/icon.tsx";
import { tellingArgument } from "../../../text/telling-argument.ts";
import { wordsOf } from "../../../text/message-words.ts";
import { attemptedOnce } from "../entry/acts.ts";

const WAITING_CHARS_MAX = 200;

/** Calls that wait for a person, and words that wait to be delivered. */
export function Approvals({
  conversation,
  waiting: { asked, queue },
  onAnswer,
}: {
  readonly conversation: string;
  readonly waiting: Pick<ThreadPage["waiting"], "asked" | "queue">;
  readonly onAnswer?: () => void;
}): JSX.Element | null {
  if (asked.length + queue.length === 0) return null;
  const decide = async (request: string, outcome: "allowed" | "denied"): Promise<void> => {
    await attemptedOnce(`answer ${request}`, () => client.answerRequest({ conversation, request, outcome }));
    onAnswer?.();
  };
  return (
    <div class="waiting" role="group" aria-label="Waiting for you">
      {asked.map(({ request, tool, input }) => (
        <div key={request} class="banner" role="alert">
          <Icon name="lock" />
          <span class="grow">
            <b>{safeLine(tool)}</b> <span class="mono">{tellingArgument(input)}</span>
            <details>
              <summary class="link">Show all arguments</summary>
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
      {queue.map(({ steer, content }) => (
        <p key={steer} class="muted">
          Queued, sent at the next step: {safeLine(wordsOf(content)).slice(0, WAITING_CHARS_MAX)}
        </p>
      ))}
    </div>
  );
}
