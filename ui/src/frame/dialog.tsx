import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../parts/marks/icon.tsx";

interface DialogProps {
  readonly label: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  /** Without it, what is inside brings its own. */
  readonly hasHead?: boolean;
}

/** Something over the page; Escape, or a click beside it, closes it. */
export function Dialog({ label, close, children, hasHead = true }: DialogProps): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const [before, dialog] = [document.activeElement, ref.current];
    dialog?.showModal();
    return () => {
      // One that was closed has given the focus back, and somebody may have gone on since.
      if (dialog?.open === true && before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      class="over"
      ref={ref}
      aria-label={label}
      onClose={close}
      onClick={(event) => event.target === ref.current && close()}
    >
      {hasHead ? (
        <div class="over-head">
          <h2 class="grow">{label}</h2>
          <button class="btn quiet icon" type="button" aria-label="Close" onClick={close}>
            <Icon name="x" />
          </button>
        </div>
      ) : null}
      {children}
    </dialog>
  );
}
