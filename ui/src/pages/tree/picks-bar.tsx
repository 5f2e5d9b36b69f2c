import type { JSX } from "preact";
import { Icon } from "../../parts/marks/icon.tsx";
import { addressOf } from "../../router/addresses.ts";
import { changeQuery } from "../../router/location.ts";
import { hasPage } from "../has-page.ts";
import type { Picks } from "./tree-picks.ts";

function Side({ side, address }: { readonly side: "a" | "b"; readonly address: string | null }): JSX.Element {
  return (
    <div class="pick">
      <span class={`side-${side}`}>{side.toUpperCase()}</span>
      <span class={address === null ? "faint" : "strong cut mono"}>{address ?? "not selected"}</span>
    </div>
  );
}

/** The two that are to be compared. */
export function PicksBar({
  picks: { a, b },
  active,
}: {
  readonly picks: Picks;
  readonly active: string;
}): JSX.Element {
  // One alone is compared with the branch that is gone on with.
  const other = b ?? (a === active ? null : active);
  return (
    <div
      class={a === null && b === null ? "tree-picks is-empty" : "tree-picks"}
      role="group"
      aria-label="To compare"
    >
      <div class="picks">
        <Side side="a" address={a} />
        <button
          class="btn quiet icon small swap"
          type="button"
          aria-label="Swap sides"
          disabled={a === null && b === null}
          onClick={() => changeQuery({ a: b, b: a })}
        >
          <Icon name="swap" />
        </button>
        <Side side="b" address={b} />
      </div>
      {a === null || other === null ? (
        <p class="faint">Select two entries to compare (Space).</p>
      ) : hasPage("/diff") ? (
        <a class="btn primary" href={addressOf("/diff", { a, b: other })} aria-keyshortcuts="d">
          <Icon name="swap" />
          {b === null ? "Compare with the active branch" : "Compare"}
          <kbd>d</kbd>
        </a>
      ) : null}
    </div>
  );
}
