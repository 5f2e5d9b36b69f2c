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

/** Only a person lets go of the end: rows that grow move the page, too. */
export function useFollowing(isAtEntry: boolean): void {
  useEffect(() => {
    follows.value = !isAtEntry;
    let lastY = window.scrollY;
    const onScroll = (): void => {
      const isUp = window.scrollY < lastY - 1;
      lastY = window.scrollY;
      if (isAtEnd()) follows.value = true;
      else if (isUp) follows.value = false;
    };
    const onWheel = (event: WheelEvent): void => {
      if (event.deltaY < 0) follows.value = false;
    };
    window.addEventListener("scroll", onScroll, { passive: true });
    window.addEventListener("wheel", onWheel, { passive: true });
    return () => {
      window.removeEventListener("scroll", onScroll);
      window.removeEventListener("wheel", onWheel);
    };
  }, [isAtEntry]);
}
