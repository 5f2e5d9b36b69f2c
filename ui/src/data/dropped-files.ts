import { type Signal, signal } from "@preact/signals";

/** A file that somebody dropped or chose; a folder is none, and is told apart by what the browser says of it. */
export interface DroppedFile {
  readonly file: File;
  readonly isFolder: boolean;
}

/** What was dropped on another page, until the page for imports takes it. */
export const droppedFiles: Signal<readonly DroppedFile[]> = signal([]);

/** What a drop holds. A folder has a name and no bytes, and only the entry says so. */
export function filesIn(data: DataTransfer | null): readonly DroppedFile[] {
  return [...(data?.items ?? [])].flatMap((item) => {
    const file = item.kind === "file" ? item.getAsFile() : null;
    return file === null ? [] : [{ file, isFolder: item.webkitGetAsEntry()?.isDirectory === true }];
  });
}
