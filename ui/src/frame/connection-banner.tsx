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
            <b>The server is not responding.</b> Reconnecting. Nothing on this page is lost.
          </>
        ) : (
          <>
            <b>You are signed out.</b> Run <code>holdfast ui</code> (or <code>npm start</code>) again and open
            the link it prints within five minutes. The server that is running can stay.
          </>
        )}
      </span>
    </div>
  );
}
