import { useLayoutEffect } from "preact/hooks";
import { singleKeys } from "../data/preferences.ts";
import { leaveField } from "../parts/kept-focus.ts";
import { isModPressed, isSingle, KEY_TABLE, type KeyAct, type KeyRow } from "./key-table.ts";

/** A key and what it does here. */
export interface KeyBinding extends Omit<KeyRow, "where"> {
  readonly run: () => void;
}

/** What is done by the key that the table has for it. */
export function onKey(act: KeyAct, run: () => void): KeyBinding {
  return { ...KEY_TABLE[act], run };
}

const bound = new Set<readonly KeyBinding[]>();
const SEQUENCE_MS = 1_000;
let before = { key: "", atMs: 0 };

/** Every key that does something on the page that is open. */
export function boundKeys(): readonly KeyBinding[] {
  return [...bound].flat();
}

/** The name of a key that was pressed: `mod+k`, `J`. */
function keyName(event: KeyboardEvent): string {
  return `${isModPressed(event) ? "mod+" : ""}${event.key}`;
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
    // Alt belongs to the browser: it goes back and forward, and opens menus.
    if (event.defaultPrevented || event.altKey) return;
    const name = keyName(event);
    const isOver = document.querySelector("dialog[open], :popover-open") !== null;
    if (name === "Escape" && isTyping(event) && !isOver) return leaveField();
    if (!name.startsWith("mod+") && isTyping(event)) return;
    if (singleKeys.value === "off" && isSingle(name)) return;
    if (isOver) return;
    const nowMs = event.timeStamp;
    const sequence = nowMs - before.atMs < SEQUENCE_MS ? `${before.key} ${name}` : name;
    before = { key: name, atMs: nowMs };
    const bindings = boundKeys().toReversed();
    const all = [...bindings.filter((one) => one.isLast !== true), ...bindings.filter((one) => one.isLast)];
    const found = all.find(({ keys }) => keys === sequence) ?? all.find(({ keys }) => keys === name);
    if (found === undefined) return;
    event.preventDefault();
    found.run();
  });
}

/** Keys that count while a component is shown: with what is drawn, not a moment after it. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  useLayoutEffect(() => {
    bound.add(bindings);
    return () => void bound.delete(bindings);
  });
}
