import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** What had the focus last, and all within the page that it stood in, from the inside out. */
interface Focused {
  readonly element: Element;
  readonly around: readonly Element[];
}

const FIELD = "input:not(:disabled), textarea:not(:disabled), select:not(:disabled)";
const NO_FIELD = 'a[href], button:not(:disabled), summary, [tabindex="0"]';

let last: Focused | null = null;

function noteFocus({ target }: Event): void {
  if (!(target instanceof Element)) return;
  const around: Element[] = [];
  for (let up = target.parentElement; up !== null && up.id !== "main"; up = up.parentElement) around.push(up);
  last = { element: target, around };
}

/** What had the focus is gone or cannot have it any more. Whoever takes it away by hand leaves it where it was. */
function isLost({ element }: Focused): boolean {
  return document.activeElement === document.body && (!element.isConnected || element.matches(":disabled"));
}

function bringBack(): void {
  if (last === null || !isLost(last)) return;
  const main = document.getElementById("main");
  const near = last.around.find((one) => one.isConnected);
  // Whoever did not write is not brought into a field, where keys would be words.
  const wanted = last.element.matches("input, textarea, select") ? `${FIELD}, ${NO_FIELD}` : NO_FIELD;
  const next = main?.contains(near ?? null) === true ? near?.querySelector<HTMLElement>(wanted) : null;
  (next ?? main)?.focus({ preventScroll: true });
}

/** Where what had the focus goes away, what is nearest has it: whoever uses keys goes on from where they were, not from the top. */
export function keepFocus(): void {
  document.addEventListener("focusin", noteFocus);
  new MutationObserver(bringBack).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ["disabled"],
  });
}

/** Away from a field, so that keys are keys again. */
export function leaveField(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}

/**
 * For a field that is written in as soon as it is shown, where somebody looks already: browsers heed `autofocus` only where nothing
 * has the focus, and scroll to the top for a field in a head that stays.
 */
export function useFocusedField<T extends HTMLInputElement | HTMLTextAreaElement>(): RefObject<T | null> {
  const ref = useRef<T>(null);
  useLayoutEffect(() => ref.current?.focus({ preventScroll: true }), []);
  return ref;
}
