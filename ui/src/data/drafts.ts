import { type Signal, signal } from "@preact/signals";

const KEY = "holdfast.draft.";
const CHARS_MAX = 100_000; // a browser keeps a few megabytes for all of them

const typed: Signal<ReadonlyMap<string, string>> = signal(new Map());

/** Text that waits in the composer of a conversation, also from before this page was loaded. */
export function draftOf(conversation: string): string {
  return typed.value.get(conversation) ?? localStorage.getItem(KEY + conversation) ?? "";
}

export function setDraft(conversation: string, text: string): void {
  typed.value = new Map(typed.value).set(conversation, text);
  if (text === "") return localStorage.removeItem(KEY + conversation);
  try {
    localStorage.setItem(KEY + conversation, text.slice(0, CHARS_MAX));
  } catch {
    // The browser keeps no more: the text is still in the composer.
  }
}

/** Text that was not sent waits in the composer again, before what was typed in the meantime. */
export function takeBack(conversation: string, text: string): void {
  setDraft(conversation, [text, draftOf(conversation)].filter(Boolean).join("\n"));
}
