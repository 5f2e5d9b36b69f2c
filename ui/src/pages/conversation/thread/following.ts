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

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("input, textarea, select");
}

/** Only a person lets go of the end: rows that come and grow move the page, too. */
export function useFollowing(isAtEntry: boolean): void {
  useEffect(() => {
    follows.value = !isAtEntry;
    let lastY = window.scrollY;
    let lastHeight = document.documentElement.scrollHeight;
    const letGo = (): void => void (follows.value = false);
    const onScroll = (): void => {
      const { scrollHeight } = document.documentElement;
      const [movedBy, grownBy] = [window.scrollY - lastY, scrollHeight - lastHeight];
      [lastY, lastHeight] = [window.scrollY, scrollHeight];
      // A page that shrinks is moved up by the browser; whoever scrolls up leaves its height as it is.
      if (movedBy < -1 && grownBy >= 0) letGo();
      else if (movedBy > 0 && isAtEnd()) follows.value = true;
    };
    const onWheel = (event: WheelEvent): void => {
      if (event.deltaY < 0) letGo();
    };
    const onKey = (event: KeyboardEvent): void => {
      if (!UPWARD.has(event.key)) return;
      letGo();
      // A browser glides there, and rows that are measured on the way end that.
      if (event.key !== "Home" || event.defaultPrevented || isField(event.target)) return;
      event.preventDefault();
      window.scrollTo({ top: 0, behavior: "instant" });
    };
    // What is drawn is measured later, and code and images come later still.
    const grown = new ResizeObserver(() => follows.value && scrollToEnd());
    grown.observe(document.body);
    const stop = new AbortController();
    const options = { passive: true, signal: stop.signal };
    window.addEventListener("scroll", onScroll, options);
    window.addEventListener("wheel", onWheel, options);
    window.addEventListener("keydown", onKey, { signal: stop.signal });
    return () => {
      grown.disconnect();
      stop.abort();
    };
  }, [isAtEntry]);
}
