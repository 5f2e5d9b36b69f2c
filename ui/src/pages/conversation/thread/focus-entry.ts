const FRAMES_MAX = 60; // an entry that is far away is read first

const isField = (element: Element | null): boolean =>
  element !== null && /^(?:INPUT|TEXTAREA|SELECT)$/.test(element.tagName);

/** The focus goes to an entry once it is there, so that Tab goes on from it; not where it is already, or where somebody writes. */
export function focusEntry(entry: string): () => void {
  let [frames, asked] = [0, 0];
  const look = (): void => {
    const row = document.querySelector(`[data-entry="${CSS.escape(entry)}"]`);
    const { activeElement } = document;
    if (isField(activeElement) || row?.contains(activeElement) === true) return;
    const mark = row?.querySelector<HTMLElement>("a.seq");
    if (mark != null) mark.focus({ preventScroll: true });
    else if (++frames < FRAMES_MAX) asked = requestAnimationFrame(look);
  };
  look();
  return () => cancelAnimationFrame(asked);
}
