import { nameOf } from "../../../text/conversation-name.ts";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { client } from "../../../data/api-client.ts";
import { useLoaded } from "../../../data/loaded.ts";
import { Failure } from "../../../parts/failure.tsx";
import { GhostRows } from "../../../parts/ghost-rows.tsx";
import { Icon } from "../../../parts/marks/icon.tsx";
import { bytesText } from "../../../parts/numbers.ts";
import { conversationAddress } from "../../../router/addresses.ts";
import { query } from "../../../router/location.ts";
import { TransferHead } from "../transfer-head.tsx";
import { choiceIn, type ExportChoice, fileName } from "./export-choice.ts";
import { ExportForm } from "./export-form.tsx";
import { download, type ExportReview, reviewName, useReview } from "./export-review.ts";
import { PickConversation } from "./pick-conversation.tsx";
import { RedactionList } from "./redaction-list.tsx";

/** Why there is nothing to download yet; null where there is. */
function missing(choice: ExportChoice, review: ExportReview | null, keep: readonly string[]): string | null {
  if (review === null || review.of !== reviewName(choice, keep)) return "Preparing…";
  return choice.format === "bundle" && choice.redact && !choice.isToBeRead
    ? "A redacted bundle is read-only. Select “Export as read-only”, or turn redaction off."
    : null;
}

/** A name is read by more people than the file: a title that something was taken out of is not told by it. */
function mayBeNamed({ redact }: ExportChoice, review: ExportReview | null): boolean {
  return !redact || (review !== null && !review.redactions.some(({ type }) => type === "title"));
}

function Size({ review }: { readonly review: ExportReview | null }): JSX.Element | null {
  const text = review?.text ?? null;
  return text === null ? null : <span class="faint">{bytesText(new Blob([text]).size)}</span>;
}

function Export({ choice }: { readonly choice: ExportChoice }): JSX.Element {
  const { conversation } = choice;
  const [keep, setKeep] = useState<readonly string[]>([]);
  const about = useLoaded((signal) => client.getConversation({ conversation }, { signal }), [conversation]);
  const { value: review, error, reload } = useReview(choice, keep);
  const title = about.value?.title ?? null;
  const name = fileName(mayBeNamed(choice, review) ? title : null, choice);
  const why = missing(choice, review, keep);
  const failed = about.error ?? error;
  return (
    <>
      <TransferHead way="export">
        <button
          class="btn primary"
          type="button"
          disabled={why !== null || failed !== null}
          onClick={() => download({ choice, text: review?.text ?? null }, name, keep)}
        >
          <Icon name="out" />
          Download
        </button>
      </TransferHead>
      <div class="transfer">
        <div>
          <div class="setting">
            <span>Conversation</span>
            <span class="row-flex">
              <a class="link cut" href={conversationAddress(conversation)}>
                {nameOf(conversation, title)}
              </a>
              <a class="btn small" href="/export">
                Change…
              </a>
            </span>
          </div>
          <ExportForm choice={choice} branches={about.value?.summary?.branches ?? 1} />
          <div class="setting">
            <span>File</span>
            <span class="row-flex wrap">
              <span class="mono">{name}</span>
              <Size review={review} />
              {why === null ? null : (
                <span class="muted" role="status" data-testid="not-ready">
                  {why}
                </span>
              )}
            </span>
          </div>
        </div>
        {failed === null ? null : (
          <Failure error={failed} retry={about.error === null ? reload : about.reload} />
        )}
        {review === null && failed === null ? <GhostRows /> : null}
        {review === null || !choice.redact ? null : (
          <RedactionList review={review} keep={keep} change={setKeep} />
        )}
      </div>
    </>
  );
}

/** Conversations out: what is in the file is shown before there is one. */
export function Page(): JSX.Element {
  const choice = choiceIn(query.value);
  if (choice.conversation !== "") return <Export key={choice.conversation} choice={choice} />;
  return (
    <>
      <TransferHead way="export" />
      <div class="transfer">
        <PickConversation />
      </div>
    </>
  );
}
