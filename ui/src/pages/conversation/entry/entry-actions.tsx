import type { JSX } from "preact";
import type { ThreadRow } from "#edges/http/client/views";
import { forkProblemText } from "#operations/text";
import { useState } from "preact/hooks";
import { copyText } from "../../../parts/copy-button.tsx";
import { Icon, type IconName } from "../../../parts/marks/icon.tsx";
import { addressOf, conversationAddress } from "../../../router/addresses.ts";
import { query } from "../../../router/location.ts";
import { hasPage } from "../../has-page.ts";
import { wordsOf } from "../../../text/message-words.ts";
import { forkAt, setHidden } from "./acts.ts";

interface ActionsProps {
  readonly row: ThreadRow;
  readonly conversation: string;
  /** Of a prompt. */
  readonly edit?: () => void;
  readonly label: () => void;
}

function Act({
  icon,
  label,
  run,
}: {
  readonly icon: IconName;
  readonly label: string;
  readonly run: () => void;
}): JSX.Element {
  return (
    <button class="btn icon" type="button" aria-label={label} title={label} onClick={run}>
      <Icon name={icon} />
    </button>
  );
}

function Leads({
  icon,
  label,
  to,
}: {
  readonly icon: IconName;
  readonly label: string;
  readonly to: string;
}): JSX.Element {
  return (
    <a class="btn icon" aria-label={label} title={label} href={to}>
      <Icon name={icon} />
    </a>
  );
}

function More({ row, conversation }: Pick<ActionsProps, "row" | "conversation">): JSX.Element {
  const { entry, hidden: isHidden, source } = row;
  const link = conversationAddress(conversation, "", { at: entry.id });
  return (
    <>
      <Act
        icon="hide"
        label={isHidden ? "Bring back into the context" : "Hide from the context"}
        run={() => void setHidden(conversation, entry.id, !isHidden)}
      />
      {entry.type === "message" ? (
        <Act icon="file" label="Copy text" run={() => void copyText(wordsOf(entry.message.content))} />
      ) : null}
      <Act icon="out" label="Copy link" run={() => void copyText(new URL(link, window.location.href).href)} />
      {source !== null ? null : (
        <Leads
          icon="context"
          label="As it lies in the log"
          to={conversationAddress(conversation, "log", { seq: String(entry.seq) })}
        />
      )}
    </>
  );
}

/** What can be done at a message; in the place of its meta, when it is looked at. */
export function EntryActions({ row, conversation, edit, label }: ActionsProps): JSX.Element {
  const [isMore, setMore] = useState(false);
  const { entry, noFork } = row;
  return (
    <div class="acts" role="toolbar" aria-label="Actions on this message">
      <button
        class="btn"
        type="button"
        aria-disabled={noFork === null ? undefined : "true"}
        aria-describedby={noFork === null ? undefined : `why-${entry.id}`}
        title={edit === undefined ? "Keeps this and goes on behind it" : "Goes on in front of this prompt"}
        onClick={() => void forkAt(conversation, row)}
      >
        <Icon name="fork" />
        <span>Fork</span>
        <kbd>f</kbd>
      </button>
      {noFork === null ? null : (
        <span class="why-not" id={`why-${entry.id}`}>
          {forkProblemText(noFork)}
        </span>
      )}
      {edit === undefined ? null : (
        <button class="btn" type="button" onClick={edit}>
          <Icon name="edit" />
          <span>
            Edit<span class="wide"> and resubmit</span>
          </span>
          <kbd>e</kbd>
        </button>
      )}
      <span class="bar" />
      {hasPage("/replay") ? (
        <Leads
          icon="replay"
          label="Replay from here"
          to={addressOf("/replay", { conversation, at: entry.id, leaf: query.value.get("leaf") })}
        />
      ) : null}
      {hasPage("/c/:conversation/context") ? (
        <Leads
          icon="context"
          label="Context here"
          to={conversationAddress(conversation, "context", { at: entry.id })}
        />
      ) : null}
      <Act icon="label" label="Label" run={label} />
      <Act icon="copy" label="Copy address" run={() => void copyText(`${conversation}@${entry.id}`)} />
      {isMore ? <More row={row} conversation={conversation} /> : null}
      <Act icon="more" label={isMore ? "Less" : "More: hide, copy, record"} run={() => setMore(!isMore)} />
    </div>
  );
}
