import type { JSX } from "preact";
import type { EntryOf } from "#log/entry";
import { client } from "../../data/api-client.ts";
import { type Loaded, useLoaded } from "../../data/loaded.ts";
import { useWidth } from "../../parts/measured-width.ts";
import { countText, tokensText } from "../../parts/numbers.ts";
import { conversationAddress } from "../../router/addresses.ts";
import { type ContextRow, type Folded, foldedOf, foldedRows, type Sizes } from "./context-rows.ts";

export interface FoldedBy {
  readonly entry: EntryOf<"compaction">;
  readonly before: Sizes;
  readonly folded: Folded;
}

/** A compaction, and what it folded away: what was sent in front of it, but for what it kept. */
export function useFolded(conversation: string, compaction: string | null): Loaded<FoldedBy | null> {
  return useLoaded(
    async (signal) => {
      if (compaction === null) return null;
      const entry = await client.getEntry({ conversation, entry: compaction }, { signal });
      if (entry.type !== "compaction" || entry.parentId === null) return null;
      const before = await client.getContextSizes({ conversation, at: entry.parentId }, { signal });
      return { entry, before, folded: foldedOf(before, entry.firstKeptEntryId) };
    },
    [conversation, compaction],
  );
}

/** Those messages one by one, once they are asked for; null: they are not, or not there yet. */
export function useFoldedRows(
  conversation: string,
  by: FoldedBy | null,
  isAsked: boolean,
): readonly ContextRow[] | null {
  const at = by?.entry.parentId ?? null;
  const { value } = useLoaded(
    async (signal) => {
      if (!isAsked || by === null || at === null) return null;
      const exact = await client.getContext({ conversation, at }, { signal });
      return foldedRows(by.before, exact, by.entry.firstKeptEntryId);
    },
    [conversation, at, isAsked],
  );
  return isAsked ? value : null;
}

/** What a summary stands for: before and after as two bars, and what it was made of. */
export function FoldedAway({
  conversation,
  by: { entry, folded },
  now,
}: {
  readonly conversation: string;
  readonly by: FoldedBy;
  /** The tokens of the summary. */
  readonly now: number;
}): JSX.Element {
  const before = Math.max(folded.tokens, 1);
  const [ref, measured] = useWidth<HTMLDivElement>();
  const width = Math.max(1, measured);
  const scale = width / Math.max(before, now);
  return (
    <div class="exact">
      <div class="exact-head">
        <b>Summarized by entry {entry.seq}</b>
        <span class="faint grow">{countText(folded.messages, "message")}</span>
        <a class="link" href={conversationAddress(conversation, "context", { at: entry.parentId })}>
          Context before
        </a>
      </div>
      <div class="folded-bars" ref={ref}>
        <svg
          viewBox={`0 0 ${width} 74`}
          width={width}
          height="74"
          role="img"
          aria-label={`${folded.tokens} tokens in ${folded.messages} messages became a summary of ${now}`}
        >
          <text x="0" y="14">
            In the log
          </text>
          <text x={width} y="14" text-anchor="end">
            {tokensText(folded.tokens)}
          </text>
          <rect class="bar" x="0.5" y="20" width={Math.max(4, before * scale - 1)} height="14" />
          <text class="to" x="0" y="50">
            {tokensText(now)} sent instead
          </text>
          <rect class="bar now" x="0" y="56" width={Math.max(4, now * scale)} height="14" />
        </svg>
      </div>
      <dl class="kv fold-kv">
        <dt>tool results</dt>
        <dd class="num">{tokensText(folded.results)}</dd>
        <dt>replies</dt>
        <dd class="num">{tokensText(folded.replies)}</dd>
        <dt>prompts</dt>
        <dd class="num">{tokensText(folded.prompts)}</dd>
        {entry.tokensBefore === undefined ? null : (
          <>
            <dt>counted then</dt>
            <dd class="num">{tokensText(entry.tokensBefore)}</dd>
          </>
        )}
      </dl>
      <p class="muted folded-note">The log keeps both.</p>
    </div>
  );
}
