function memberOf(input: unknown, names: readonly string[]): string | null {
  const members =
    typeof input === "object" && input !== null ? (input as { readonly [name: string]: unknown }) : {};
  const found = names.map((name) => members[name]).find((value) => typeof value === "string");
  return typeof found === "string" ? found : null;
}

/** What a call changes in a file, where it says so. */
export function changeIn(input: unknown): { readonly before: string; readonly after: string } | null {
  const after = memberOf(input, ["new_string", "newText", "newString", "new_str"]);
  const before = memberOf(input, ["old_string", "oldText", "oldString", "old_str"]);
  return before === null || after === null ? null : { before, after };
}
