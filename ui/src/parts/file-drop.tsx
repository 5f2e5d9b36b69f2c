import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { type DroppedFile, filesIn } from "../data/dropped-files.ts";
import { Icon } from "./marks/icon.tsx";

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") === true;
}

/** Files may be dropped anywhere on the page that shows this; what one drags over it is told what will become of it. */
export function FileDrop({ take }: { readonly take: (files: readonly DroppedFile[]) => void }): JSX.Element {
  const [isOver, setOver] = useState(false);
  // Before the page is painted: a file may be dragged over the first frame.
  useLayoutEffect(() => {
    const over = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault(); // else the browser opens the file in place of the page
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      take(filesIn(event.dataTransfer));
    };
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, [take]);
  return (
    <div class={isOver ? "drop-veil is-over" : "drop-veil"} aria-hidden={!isOver}>
      {isOver ? (
        <p data-testid="drop-here">
          <Icon name="in" />
          Drop to review the file. Nothing is imported yet.
        </p>
      ) : null}
    </div>
  );
}
