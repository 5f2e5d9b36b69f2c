import { counted } from "#edges/cli/terminal/terminal";
import type { SalvagedRest } from "#open";

/** What became of the entries after a damage, for people. */
export function salvagedText({ restEntries, lost, leftOut }: SalvagedRest): readonly string[] {
  const gaps = lost.map(({ fromSeq, toSeq }) =>
    fromSeq === toSeq ? `${fromSeq}` : `${fromSeq} to ${toSeq}`,
  );
  return [
    ...(gaps.length === 0 ? [] : [`These entries cannot be read: ${gaps.join(", ")}`]),
    ...(restEntries === 0
      ? []
      : [
          `Copied ${counted(restEntries, "entry", "entries")} that follow them; those whose parent is lost are a branch of their own`,
        ]),
    ...(leftOut.length === 0
      ? []
      : [
          `Left out ${counted(leftOut.length, "entry", "entries")} that name a lost one: ${leftOut.join(", ")}`,
        ]),
  ];
}
