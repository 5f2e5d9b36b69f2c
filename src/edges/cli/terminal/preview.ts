import type { Entry } from "#log/entry";
import { entryPreview } from "#transfer/views/entry-preview";
import { safeLine } from "#edges/cli/terminal/terminal";

/** One line about an entry, safe to show. */
export function previewOf(entry: Entry): string {
  return safeLine(entryPreview(entry));
}
