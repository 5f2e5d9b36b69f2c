import type { JSX } from "preact";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { tokensText } from "../../parts/numbers.ts";
import { conversationAddress } from "../../router/addresses.ts";
import type { Sizes } from "./context-page.tsx";

/** What a summary stands for: before and after, as two bars. */
export function FoldedAway({
  conversation,
  compaction,
  sizes,
}: {
  readonly conversation: string;
  readonly compaction: string;
  readonly sizes: Sizes;
}): JSX.Element | null {
  const { value } = useLoaded(
    (signal) => client.getEntry({ conversation, entry: compaction }, { signal }),
    [conversation, compaction],
  );
  if (value?.type !== "compaction") return null;
  const now = (sizes.messages.find(({ entry }) => entry === compaction) ?? sizes.messages[0])?.tokens ?? 0;
  const before = value.tokensBefore ?? null;
  return (
    <div class="exact">
      <div class="exact-head">
        <b class="grow">Folded away by entry {value.seq}</b>
        {value.parentId === null ? null : (
          <a class="link" href={conversationAddress(conversation, "context", { at: value.parentId })}>
            Context before
          </a>
        )}
      </div>
      <svg
        class="folded-bars"
        viewBox="0 0 336 74"
        role="img"
        aria-label={`${before ?? "unknown"} tokens became ${now}`}
      >
        <text x="0" y="14">
          In the log
        </text>
        <text x="336" y="14" text-anchor="end">
          {before === null ? "not counted" : tokensText(before)}
        </text>
        <rect class="bar" x="0" y="20" width="336" height="14" />
        <rect
          class="bar now"
          x="0"
          y="54"
          width={Math.max(4, before === null ? 24 : (now / before) * 336)}
          height="14"
        />
        <text class="to" x="40" y="66">
          {tokensText(now)} sent in its place
        </text>
      </svg>
      <p class="muted folded-note">Both stay: nothing was deleted.</p>
    </div>
  );
}
