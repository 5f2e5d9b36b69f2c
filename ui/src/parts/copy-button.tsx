import type { JSX } from "preact";
import { say } from "../frame/said.tsx";
import { Icon } from "./marks/icon.tsx";

/** Puts a text where it can be pasted, and says so. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied ${text.length > 60 ? "it" : text}`);
  } catch {
    say("The browser blocked copying.");
  }
}

/** A text that is worth pasting, as a button that copies it. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  return (
    <button class="copy" type="button" onClick={() => void copyText(text)}>
      <span class="cut">{text}</span> <Icon name="copy" />
      <span class="sr">copy {what}</span>
    </button>
  );
}
