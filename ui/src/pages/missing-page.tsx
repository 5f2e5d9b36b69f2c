import type { JSX } from "preact";

export function MissingPage(): JSX.Element {
  return (
    <div class="state-body">
      <h1 class="state-title">There is no such page</h1>
      <p class="muted">The address may be of another version, or was cut off when it was copied.</p>
      <p>
        <a class="btn" href="/">
          To the history
        </a>
      </p>
    </div>
  );
}
