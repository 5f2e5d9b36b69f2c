import { type Signal, signal } from "@preact/signals";

interface Opened {
  readonly conversation: string;
  readonly title: string;
}

const KEPT = 5;

/** What was opened in this tab of the browser, the latest first; gone with it. */
export const recent: Signal<readonly Opened[]> = signal([]);

export function noteOpened(conversation: string, title: string): void {
  const [first] = recent.value;
  if (first?.conversation === conversation && first.title === title) return;
  const others = recent.value.filter((one) => one.conversation !== conversation);
  recent.value = [{ conversation, title }, ...others].slice(0, KEPT);
}

export function noteGone(conversation: string): void {
  recent.value = recent.value.filter((one) => one.conversation !== conversation);
}
