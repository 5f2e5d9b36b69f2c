export type CsvRow = readonly (string | number | null)[];

/** Text that a sheet would take for a formula is given as text. */
function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvText(rows: readonly CsvRow[]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
