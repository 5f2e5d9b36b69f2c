import type { JSX } from "preact";

export function MissingPage(): JSX.Element {
  return (
    <div class="state-body">
      <h1 class="state-title">Page not found</h1>
      <p class="muted">The URL may be incomplete or from another version.</p>
      <p>
        <a class="btn" href="/">
          Back to history
        </a>
      </p>
    </div>
  );
}
