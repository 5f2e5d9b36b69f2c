import { type Signal, signal } from "@preact/signals";
import { readJson } from "#log/json/read-json";

interface Opened {
  readonly conversation: string;
  readonly title: string;
}

const KEPT = 5;

const KEY = "holdfast.recent";

function isOpened(one: unknown): one is Opened {
  return (
    typeof one === "object" &&
    one !== null &&
    "conversation" in one &&
    "title" in one &&
    typeof one.conversation === "string" &&
    typeof one.title === "string"
  );
}

function keptBefore(): readonly Opened[] {
  try {
    const kept: unknown = readJson(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isOpened).slice(0, KEPT) : [];
  } catch {
    return [];
  }
}

/** What was opened in this browser, the latest first. */
export const recent: Signal<readonly Opened[]> = signal(keptBefore());
recent.subscribe((opened) => localStorage.setItem(KEY, JSON.stringify(opened)));

export function noteOpened(conversation: string, title: string): void {
  const [first] = recent.value;
  if (first?.conversation === conversation && first.title === title) return;
  const others = recent.value.filter((one) => one.conversation !== conversation);
  recent.value = [{ conversation, title }, ...others].slice(0, KEPT);
}

export function noteGone(conversation: string): void {
  recent.value = recent.value.filter((one) => one.conversation !== conversation);
}
