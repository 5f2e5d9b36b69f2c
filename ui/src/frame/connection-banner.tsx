import type { JSX } from "preact";
import { connection } from "../data/api-client.ts";
import { Icon } from "../parts/marks/icon.tsx";

/** Said where the server does not answer: what is on the page stays readable. */
export function ConnectionBanner(): JSX.Element | null {
  if (connection.value === "live") return null;
  const isLost = connection.value === "lost";
  return (
    <div class="banner unknown" role="status">
      <Icon name="warn" />
      <span class="grow">
        {isLost ? (
          <>
            <b>The server does not answer.</b> What you see stays, what you type is kept; this page goes on by
            itself when it is back.
          </>
        ) : (
          <>
            <b>This browser is not signed in.</b> A link lets one browser in, once, within five minutes. Start{" "}
            <code>holdfast ui</code>, or <code>npm start</code>, once more and open the link that it prints:
            it shows the same conversations, and the one that runs may go on.
          </>
        )}
      </span>
    </div>
  );
}
