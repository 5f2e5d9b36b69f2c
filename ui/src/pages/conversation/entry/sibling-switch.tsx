import type { JSX } from "preact";
import { Icon } from "../../../parts/marks/icon.tsx";
import { changeQuery } from "../../../router/location.ts";
import type { ThreadRow } from "#edges/http/client/views";

/** Shows the branch through another of the ways that part here. */
export function goToSibling(all: ThreadRow["siblings"], from: string, step: number): void {
  const own = all.findIndex(({ entry }) => entry === from);
  const next = all[(own + step + all.length) % all.length];
  if (next === undefined || next.entry === from) return;
  // The conversation's own grows, and is not held at the end it has now.
  changeQuery({ leaf: next.active ? null : next.end, at: next.entry }, { replace: false });
}

/** Which of several ways is shown, and the others. */
export function SiblingSwitch({
  entry,
  all,
}: {
  readonly entry: string;
  readonly all: ThreadRow["siblings"];
}): JSX.Element | null {
  if (all.length < 2) return null;
  const place = all.findIndex((one) => one.entry === entry) + 1;
  return (
    <span class="sib" role="group" aria-label={`Branch ${place} of ${all.length} here`}>
      <button type="button" aria-label="Previous branch" onClick={() => goToSibling(all, entry, -1)}>
        <Icon name="left" />
      </button>
      <span class="n">
        {place}/{all.length}
      </span>
      <button type="button" aria-label="Next branch" onClick={() => goToSibling(all, entry, 1)}>
        <Icon name="right" />
      </button>
    </span>
  );
}
