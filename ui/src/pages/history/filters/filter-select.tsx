import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import { changeQuery } from "../../../router/location.ts";

/** A filter with several values, one of which the address may have. */
export function FilterSelect({
  name,
  label,
  value,
  choices,
}: {
  /** Of the member of the query. */
  readonly name: string;
  readonly label: string;
  readonly value: string | null;
  readonly choices: readonly (readonly [string, string])[];
}): JSX.Element {
  const isKnown = value === null || choices.some(([one]) => one === value);
  const all = isKnown ? choices : [...choices, [value, value] as const];
  return (
    <select
      class={value === null ? "chip" : "chip on"}
      aria-label={label}
      value={value ?? ""}
      onChange={(event) => changeQuery({ [name]: event.currentTarget.value })}
    >
      <option value="">{label}: all</option>
      {all.map(([one, words]) => (
        <option key={one} value={one}>
          {label}: {safeLine(words)}
        </option>
      ))}
    </select>
  );
}
