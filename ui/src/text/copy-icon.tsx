import type { JSX } from "preact";
import { copyText } from "../parts/copy-button.tsx";
import { Icon } from "../parts/marks/icon.tsx";

/** Copies what is beside it. */
export function CopyIcon({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  return (
    <button
      class="btn quiet icon small copy-icon"
      type="button"
      aria-label={`Copy ${what}`}
      onClick={() => void copyText(text)}
    >
      <Icon name="copy" />
    </button>
  );
}
