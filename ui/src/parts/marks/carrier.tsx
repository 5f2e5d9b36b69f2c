import type { JSX } from "preact";

/** The letter of the nth upstream session: A to Z, then with numbers. */
export function carrierLetter(place: number): string {
  const letter = String.fromCharCode(65 + (place % 26));
  return place < 26 ? letter : `${letter}${Math.floor(place / 26)}`;
}

/** Two tones in turn. */
export function carrierTone(place: number): "odd" | "even" {
  return place % 2 === 0 ? "odd" : "even";
}

/** The upstream session that carried something. */
export function Carrier({ place, title }: { readonly place: number; readonly title?: string }): JSX.Element {
  const letter = carrierLetter(place);
  return (
    <span class="up" title={title ?? `Session ${letter}`}>
      <span class="sr">session </span>
      {letter}
    </span>
  );
}
