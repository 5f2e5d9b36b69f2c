import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { onKey, useKeys } from "../frame/keys.ts";
import { Icon } from "../parts/marks/icon.tsx";
import { endTour, goInTour } from "./tour-state.ts";
import type { TourStep } from "./tour-steps.ts";
import { tour } from "./tour-under-way.ts";

const LOOK_MS = 200; // pages load and rows move
const AROUND_PX = 4;

/** What is there, and in sight or can be brought there. */
function marked({ marks, isFirstMarked }: TourStep): HTMLElement | null {
  for (const mark of marks) {
    const found = [...document.querySelectorAll<HTMLElement>(mark)].filter(
      (one) => one.getClientRects().length > 0,
    );
    const one = found.at(isFirstMarked === true ? 0 : -1);
    if (one !== undefined) return one;
  }
  return null;
}

/** A frame around what a step speaks of; it takes no clicks. */
function Frame({ step }: { readonly step: TourStep }): JSX.Element {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let brought: HTMLElement | null = null;
    const place = (): void => {
      const [frame, found] = [ref.current, marked(step)];
      if (frame === null) return;
      frame.hidden = found === null;
      if (found === null) return;
      if (brought !== found) found.scrollIntoView({ block: "nearest" });
      brought = found;
      const { top, left, right, bottom } = found.getBoundingClientRect();
      // Where there is no room beside the page, the card leaves that end of it free.
      const isHigh = top < window.innerHeight / 3;
      document.querySelector(".tour-card")?.classList.toggle("at-foot", isHigh);
      // What fills the page to its edge is framed within it.
      const [from, to] = [Math.max(0, left - AROUND_PX), Math.min(window.innerWidth, right + AROUND_PX)];
      frame.style.top = `${top - AROUND_PX}px`;
      frame.style.left = `${from}px`;
      frame.style.width = `${to - from}px`;
      frame.style.height = `${bottom - top + 2 * AROUND_PX}px`;
    };
    place();
    const timer = setInterval(place, LOOK_MS);
    for (const type of ["scroll", "resize"]) window.addEventListener(type, place, { passive: true });
    return () => {
      clearInterval(timer);
      for (const type of ["scroll", "resize"]) window.removeEventListener(type, place);
    };
  }, [step]);
  return <div class="tour-frame" ref={ref} hidden aria-hidden="true" />;
}

/** One step at a time, beside the page, which stays in use. */
export function TourCard(): JSX.Element | null {
  const heading = useRef<HTMLHeadingElement>(null);
  const now = tour.value;
  const at = now?.at ?? -1;
  // Whoever reads by ear is told the step; whoever pressed the button goes on from here.
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [at]);
  useKeys([onKey("endTour", endTour)]);
  const step = now?.steps[at];
  if (now === null || step === undefined) return null;
  return (
    <>
      <Frame key={at} step={step} />
      <aside
        class="tour-card"
        aria-label="Tour"
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          endTour();
        }}
      >
        <div class="row-flex">
          <h2 class="grow" tabIndex={-1} ref={heading}>
            <span class="faint">
              Step {at + 1} of {now.steps.length}
            </span>{" "}
            {step.title}
          </h2>
          <button class="btn quiet icon small" type="button" aria-label="End the tour" onClick={endTour}>
            <Icon name="x" />
          </button>
        </div>
        <p>{step.words}</p>
        <p class="row-flex">
          <button class="btn" type="button" disabled={at === 0} onClick={() => void goInTour(-1)}>
            Back
          </button>
          <span class="grow" />
          <button class="btn" type="button" aria-disabled={now.isBusy} onClick={() => void goInTour(1)}>
            {now.isBusy ? "One moment…" : step.next}
          </button>
        </p>
      </aside>
    </>
  );
}
