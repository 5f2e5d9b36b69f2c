import { useEffect } from "preact/hooks";
import { singleKeys } from "../data/preferences.ts";

/** A key, or two one after the other (`g l`), and what it does here. */
export interface KeyBinding {
  readonly keys: string;
  readonly does: string;
  readonly run: () => void;
}

const bound = new Set<readonly KeyBinding[]>();
const SEQUENCE_MS = 1_000;
let before = { key: "", atMs: 0 };

/** Every key that does something on the page that is open. */
export function boundKeys(): readonly KeyBinding[] {
  return [...bound].flat();
}

/** How a key that was pressed is called: `mod+k`, `alt+ArrowUp`, `J`. */
function keyName(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">): string {
  const { key, ctrlKey, metaKey, altKey } = event;
  return `${ctrlKey || metaKey ? "mod+" : ""}${altKey ? "alt+" : ""}${key}`;
}

function isTyping(event: KeyboardEvent): boolean {
  const { target } = event;
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Listens once, for all bindings; those that came last count first. */
export function listenForKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return;
    const name = keyName(event);
    const isChord = name.startsWith("mod+") || name.startsWith("alt+");
    if (!isChord && (isTyping(event) || (singleKeys.value === "off" && name.length === 1))) return;
    if (document.querySelector("dialog[open]") !== null) return;
    const nowMs = event.timeStamp;
    const sequence = nowMs - before.atMs < SEQUENCE_MS ? `${before.key} ${name}` : name;
    before = { key: name, atMs: nowMs };
    const all = boundKeys().toReversed();
    const found = all.find(({ keys }) => keys === sequence) ?? all.find(({ keys }) => keys === name);
    if (found === undefined) return;
    event.preventDefault();
    found.run();
  });
}

/** Keys that count while a component is shown. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  useEffect(() => {
    bound.add(bindings);
    return () => void bound.delete(bindings);
  });
}
