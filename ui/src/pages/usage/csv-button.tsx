import type { JSX } from "preact";
import { Icon } from "../../parts/marks/icon.tsx";
import { type CsvRow, csvText } from "./csv-text.ts";

/** Saves the numbers of a table as they are, not as they are rounded. */
export function CsvButton({
  name,
  rows,
}: {
  readonly name: string;
  readonly rows: () => readonly CsvRow[];
}): JSX.Element {
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([csvText(rows())], { type: "text/csv" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = `${name}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url));
  };
  return (
    <button class="btn small" type="button" onClick={save}>
      <Icon name="out" />
      CSV
    </button>
  );
}
