import type { JSX } from "preact";
import { ICON_SHAPES } from "./icon-shapes.tsx";

export type IconName = keyof typeof ICON_SHAPES;

/** An icon beside words that say the same, so it is silent. */
export function Icon({
  name,
  class: more = "",
}: {
  readonly name: IconName;
  readonly class?: string;
}): JSX.Element {
  return (
    <svg class={more === "" ? "i" : `i ${more}`} viewBox="0 0 16 16" aria-hidden="true">
      {ICON_SHAPES[name]}
    </svg>
  );
}
