import { type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const NEAR_PX = 120;

/** Whether the screen stays at the end while it grows. Scrolling up lets go of it, coming back to the end takes it up again. */
export const follows: Signal<boolean> = signal(true);

function isAtEnd(): boolean {
  const { scrollHeight } = document.documentElement;
  return window.scrollY + window.innerHeight >= scrollHeight - NEAR_PX;
}

export function scrollToEnd(): void {
  window.scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
}

const UPWARD: ReadonlySet<string> = new Set(["PageUp", "Home", "ArrowUp"]);

/** Only a person lets go of the end: rows that come and grow move the page, too. */
export function useFollowing(isAtEntry: boolean): void {
  useEffect(() => {
    follows.value = !isAtEntry;
    let lastY = window.scrollY;
    let isMoved = false;
    const moved = (): void => void (isMoved = true);
    const onScroll = (): void => {
      const isUp = window.scrollY < lastY - 1;
      lastY = window.scrollY;
      if (isAtEnd()) [follows.value, isMoved] = [true, false];
      else if (isUp && isMoved) follows.value = false;
    };
    const onWheel = (event: WheelEvent): void => {
      if (event.deltaY < 0) follows.value = false;
    };
    const onKey = ({ key }: KeyboardEvent): void => {
      if (UPWARD.has(key)) moved();
    };
    // What is drawn is measured later, and code and images come later still.
    const grown = new ResizeObserver(() => follows.value && scrollToEnd());
    grown.observe(document.body);
    const stop = new AbortController();
    const options = { passive: true, signal: stop.signal };
    window.addEventListener("scroll", onScroll, options);
    window.addEventListener("wheel", onWheel, options);
    window.addEventListener("touchmove", moved, options);
    window.addEventListener("pointerdown", moved, options);
    window.addEventListener("keydown", onKey, options);
    return () => {
      grown.disconnect();
      stop.abort();
    };
  }, [isAtEntry]);
}
