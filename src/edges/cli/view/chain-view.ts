import type { Fidelity } from "#log/entry";
import type { Link } from "#log/projections/chain";
import { pad, safeLine, widthOf } from "#edges/cli/terminal/terminal";
import { fidelityText, reasonText } from "#operations/text";
import { clockOf } from "./time.ts";

const HEADINGS = ["    #", "SINCE", "AGENT", "SESSION", "ENTRIES", "CONTEXT", "WHY"] as const;

/** The rows of a chain, oldest first; with headings where a person looks at them. */
export function chainRows(
  links: readonly (Omit<Link, "seq"> & { readonly fidelity?: Fidelity | null })[],
  headed: boolean = false,
): readonly string[] {
  const rows = links.map(({ id, agent, account, reason, since, carried, inherited, fidelity }, index) => [
    `${inherited ? "⑂" : " "}${String(index + 1).padStart(4)}`,
    clockOf(since),
    safeLine(account === null ? agent : `${agent}/${account}`),
    safeLine(id),
    carried === null ? "–" : `${carried.fromSeq}–${carried.toSeq}`,
    fidelityText(fidelity ?? null),
    safeLine(reasonText(reason)),
  ]);
  const table = headed ? [[...HEADINGS], ...rows] : rows;
  const widths = HEADINGS.map((_, column) => Math.max(...table.map((row) => widthOf(row[column] ?? ""))));
  return table.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
