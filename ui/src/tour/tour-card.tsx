import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { onKey, useKeys } from "../frame/keys.ts";
import { Icon } from "../parts/marks/icon.tsx";
import { endTour, goInTour } from "./tour-state.ts";
import { tour } from "./tour-under-way.ts";

const LOOK_MS = 200; // pages load and rows move
const AROUND_PX = 4;

/** The first that is there, and in sight or can be brought there. */
function marked(marks: readonly string[]): HTMLElement | null {
  for (const mark of marks) {
    const found = [...document.querySelectorAll<HTMLElement>(mark)].filter(
      (one) => one.getClientRects().length > 0,
    );
    const last = found.at(-1);
    if (last !== undefined) return last;
  }
  return null;
}

/** A frame around what a step speaks of; it takes no clicks. */
function Frame({ marks }: { readonly marks: readonly string[] }): JSX.Element {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let brought: HTMLElement | null = null;
    const place = (): void => {
      const [frame, found] = [ref.current, marked(marks)];
      if (frame === null) return;
      frame.hidden = found === null;
      if (found === null) return;
      if (brought !== found) found.scrollIntoView({ block: "nearest" });
      brought = found;
      const { top, left, width, height } = found.getBoundingClientRect();
      frame.style.top = `${top - AROUND_PX}px`;
      frame.style.left = `${left - AROUND_PX}px`;
      frame.style.width = `${width + 2 * AROUND_PX}px`;
      frame.style.height = `${height + 2 * AROUND_PX}px`;
    };
    place();
    const timer = setInterval(place, LOOK_MS);
    for (const type of ["scroll", "resize"]) window.addEventListener(type, place, { passive: true });
    return () => {
      clearInterval(timer);
      for (const type of ["scroll", "resize"]) window.removeEventListener(type, place);
    };
  }, [marks]);
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
      <Frame key={at} marks={step.marks} />
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
            {now.isBusy ? "A moment …" : step.next}
          </button>
        </p>
      </aside>
    </>
  );
}
