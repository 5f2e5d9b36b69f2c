import type { JSX } from "preact";
import { safeLine, visibleText } from "#transfer/views/safe-text";
import { Icon } from "../../../parts/marks/icon.tsx";
import { countText } from "../../../parts/numbers.ts";
import { VirtualList } from "../../../parts/virtual-list.tsx";
import { conversationAddress } from "../../../router/addresses.ts";
import type { ExportReview, Redaction } from "./export-review.ts";

const ROW_PX = 64;
const KEPT_MAX = 200; // the server takes no more in one request

function Around({ redaction }: { readonly redaction: Redaction }): JSX.Element {
  const { before, after, kind, kept, preview } = redaction;
  return (
    <p class="redacted-words mono">
      {safeLine(visibleText(before))}{" "}
      {kept ? <ins>{safeLine(preview)}</ins> : <del>[redacted: {safeLine(kind)}]</del>}{" "}
      {safeLine(visibleText(after))}
    </p>
  );
}

function Row({ redaction, toggle, isFull }: RowProps): JSX.Element {
  const { conversation, entry, seq, kind, where, preview, kept } = redaction;
  return (
    <div class={kept ? "redaction is-kept" : "redaction"}>
      <div class="redaction-head">
        <span class={kept ? "tag unknown" : "tag"}>{kept ? `kept: ${safeLine(kind)}` : safeLine(kind)}</span>
        <span class="mono cut">{safeLine(preview)}</span>
        <a class="link cut" href={conversationAddress(conversation, "", { at: entry })}>
          entry {seq}
        </a>
        <span class="faint cut grow">{safeLine(where)}</span>
        <button class="btn small" type="button" disabled={isFull && !kept} onClick={toggle}>
          {kept ? "Remove" : "Keep"}
          <span class="sr">{`: ${safeLine(kind)} in entry ${seq}, ${safeLine(where)}`}</span>
        </button>
      </div>
      <Around redaction={redaction} />
    </div>
  );
}

interface RowProps {
  readonly redaction: Redaction;
  readonly isFull: boolean;
  readonly toggle: () => void;
}

function summary({ redactions, unread }: ExportReview): string {
  const kept = redactions.filter((one) => one.kept).length;
  const taken = redactions.length - kept;
  const parts = [
    taken === 0 ? "Nothing is removed" : countText(taken, "redaction"),
    ...(kept === 0 ? [] : [`${kept} kept`]),
    ...(unread === 0 ? [] : [`${countText(unread, "image or file", "images or files")} not checked`]),
  ];
  return parts.join(" · ");
}

/** Everything that is taken out, where it stands; each can be left there. */
export function RedactionList({
  review,
  keep,
  change,
}: {
  readonly review: ExportReview;
  readonly keep: readonly string[];
  readonly change: (keep: readonly string[]) => void;
}): JSX.Element {
  const { redactions } = review;
  const toggle = ({ id, kept }: Redaction): void =>
    change(kept ? keep.filter((one) => one !== id) : [...keep, id]);
  return (
    <section class="redactions" aria-label="What is removed">
      <h2>What is removed</h2>
      <p class="muted" role="status">
        {redactions.length === 0 ? <Icon name="check" /> : null}
        {summary(review)}
      </p>
      <p class="faint">
        Best effort. Redaction does not find encoded secrets, secrets split across lines, text in images, or
        private data that is not a credential. Review the file before you share it.
      </p>
      <VirtualList
        count={redactions.length}
        role="list"
        rowRole="listitem"
        label="Redactions"
        estimate={() => ROW_PX}
        keyOf={(at) => redactions[at]?.id ?? at}
        render={(at) => {
          const redaction = redactions[at];
          return redaction === undefined ? (
            <div />
          ) : (
            <Row redaction={redaction} isFull={keep.length >= KEPT_MAX} toggle={() => toggle(redaction)} />
          );
        }}
      />
    </section>
  );
}
