import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";

const SHOWN_MS = 2_500;
const said: Signal<string> = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

/** A few words about what was just done, read out and shown for a moment. */
export function say(words: string): void {
  said.value = words;
  clearTimeout(timer);
  timer = setTimeout(() => (said.value = ""), SHOWN_MS);
}

export function Said(): JSX.Element {
  return (
    <div class="said-now" role="status" aria-live="polite">
      {said.value}
    </div>
  );
}
