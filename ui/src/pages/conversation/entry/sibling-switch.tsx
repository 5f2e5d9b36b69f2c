import type { JSX } from "preact";
import { Icon } from "../../../parts/marks/icon.tsx";
import { changeQuery } from "../../../router/location.ts";
import type { Siblings } from "../thread/siblings.ts";

/** Shows the branch through another of the ways that part here. */
export function goToSibling(siblings: Siblings, all: readonly string[], from: string, step: number): void {
  const next = all[(all.indexOf(from) + step + all.length) % all.length];
  if (next === undefined || next === from) return;
  // The conversation's own grows, and is not held at the end it has now.
  const leaf = siblings.isActive(next) ? null : siblings.endOf(next);
  changeQuery({ leaf, at: next }, { replace: false });
}

/** Which of several ways is shown, and the others. */
export function SiblingSwitch({
  entry,
  all,
  siblings,
}: {
  readonly entry: string;
  readonly all: readonly string[];
  readonly siblings: Siblings;
}): JSX.Element | null {
  if (all.length < 2) return null;
  const place = all.indexOf(entry) + 1;
  return (
    <span class="sib" role="group" aria-label={`Branch ${place} of ${all.length} here`}>
      <button
        type="button"
        aria-label="Previous branch"
        onClick={() => goToSibling(siblings, all, entry, -1)}
      >
        <Icon name="left" />
      </button>
      <span class="n">
        {place}/{all.length}
      </span>
      <button type="button" aria-label="Next branch" onClick={() => goToSibling(siblings, all, entry, 1)}>
        <Icon name="right" />
      </button>
    </span>
  );
}
