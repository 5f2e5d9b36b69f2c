import type { JSX } from "preact";

/** The text with every word that was asked for marked in it. */
export function MarkedText({ text, words }: { readonly text: string; readonly words: string }): JSX.Element {
  const wanted = words
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => RegExp.escape(word));
  const parts = wanted.length === 0 ? [text] : text.split(new RegExp(`(${wanted.join("|")})`, "gi"));
  return <>{parts.map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}</>;
}
