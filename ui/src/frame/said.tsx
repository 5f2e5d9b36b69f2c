import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { Icon } from "../parts/marks/icon.tsx";

const SHOWN_MS = 2_500;
const LETTER_MS = 60; // longer words take longer to read
const said: Signal<string> = signal("");
const warned: Signal<string> = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

/** A few words about what was just done, read out and shown for a moment. */
export function say(words: string): void {
  said.value = words;
  clearTimeout(timer);
  timer = setTimeout(() => (said.value = ""), Math.max(SHOWN_MS, words.length * LETTER_MS));
}

/** Words about what was not done: read out at once, and there until they are put away or others take their place. */
export function warn(words: string): void {
  warned.value = words;
}

export function Said(): JSX.Element {
  return (
    <>
      <div class="said-now" role="status" aria-live="polite">
        {said.value}
      </div>
      <div role="alert">
        {warned.value === "" ? null : (
          <div class="said-still">
            <Icon name="warn" />
            <span class="grow">{warned.value}</span>
            <button
              class="btn quiet icon small"
              type="button"
              aria-label="Dismiss"
              onClick={() => (warned.value = "")}
            >
              <Icon name="x" />
            </button>
          </div>
        )}
      </div>
    </>
  );
}
