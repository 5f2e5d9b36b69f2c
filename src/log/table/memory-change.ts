import type { ConversationId, EntryId } from "#log/ids";
import { atMost, type Check, entryId, listOf, nonBlank, shape, text, union } from "./shapes.ts";

/** One change of the memory. Its log determines whose memory it is. */
export interface MemoryChange {
  readonly change: "saved" | "removed" | "restored" | "summarised" | "erasing";
  /** The name of the memory. */
  readonly key?: string;
  readonly kind?: string;
  readonly title?: string;
  readonly content?: string;
  readonly tags?: readonly string[];
  readonly keywords?: readonly string[];
  /** Who changed it: `person`, `model`, or another word. */
  readonly by?: string;
  /** The conversation that it was saved in, or that was summarised; and the entry that holds its summary. */
  readonly conversation?: ConversationId;
  readonly entry?: EntryId;
  /** The memories to delete for good. */
  readonly keys?: readonly string[];
}

/** How much JSON one `memory` fact may hold: all that is remembered is held in memory. */
const MEMORY_CHARS_MAX = 32_768;

/** What belongs to a change is said by its word. */
export const memoryChange: Check = atMost(
  MEMORY_CHARS_MAX,
  union("change", {
    saved: shape(
      { key: nonBlank, title: nonBlank, content: nonBlank },
      { kind: nonBlank, tags: listOf(text), keywords: listOf(text), by: text, conversation: nonBlank },
    ),
    removed: shape({ key: nonBlank }, { by: text }),
    restored: shape({ key: nonBlank }, { by: text }),
    summarised: shape({ conversation: nonBlank, entry: entryId }),
    erasing: shape({ keys: listOf(nonBlank) }, { by: text }),
  } satisfies { readonly [C in MemoryChange["change"]]: Check }),
);

/** The words people search for. */
export function memoryText({ title = "", content = "", tags = [], keywords = [] }: MemoryChange): string {
  return [title, content, ...tags, ...keywords].filter(Boolean).join("\n");
}
