import type { JSX } from "preact";
import { ApiError } from "#edges/http/client/index";
import { Icon } from "./marks/icon.tsx";
import { wayOn } from "../data/way-on.ts";

// Their own words are for programs; the banner above says what a person does.
const SIGNED_OUT: ReadonlySet<string> = new Set(["no_token", "wrong_token"]);

/** What failed, what is safe, and the one way on. */
export function Failure({
  error,
  retry,
}: {
  readonly error: unknown;
  readonly retry?: () => void;
}): JSX.Element {
  const [what, more, code] =
    error instanceof ApiError
      ? SIGNED_OUT.has(error.code)
        ? ["You are signed out.", "Nothing was changed.", error.code]
        : [error.message, `${error.safe} ${wayOn(error)}`, error.code]
      : ["The server did not respond.", "Nothing is lost.", "unreachable"];
  return (
    <div class="banner bad" role="alert">
      <Icon name="warn" />
      <span class="grow">
        <b>{what}</b> <span class="muted">{more}</span> <code>{code}</code>
      </span>
      {code === "conversation_not_found" ? (
        <a class="btn" href="/">
          Back to history
        </a>
      ) : null}
      {retry === undefined ? null : (
        <button class="btn" type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
