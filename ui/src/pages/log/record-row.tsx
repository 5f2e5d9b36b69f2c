import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { RawJson } from "../../parts/raw-json.tsx";
import { Clock } from "../../parts/shown-time.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import type { LogRecord } from "./record-store.ts";

const DIGEST_SHOWN = 12;

function OpenedRecord({
  conversation,
  record,
}: {
  readonly conversation: string;
  readonly record: LogRecord;
}): JSX.Element {
  const { id, parentId, digest, link } = record;
  const { value, error, reload } = useLoaded(
    (signal) => client.getRecord({ conversation, seq: record.seq }, { signal }),
    [conversation, record.seq],
  );
  return (
    <div class="rec-open" id={`record-${record.seq}`}>
      <dl class="kv">
        <dt>Address</dt>
        <dd>
          <CopyButton text={`${conversation}@${id}`} what="address" />
        </dd>
        <dt>Parent</dt>
        <dd class="mono">{parentId ?? "none (an annotation, or the root)"}</dd>
        <dt>SHA-256</dt>
        <dd>
          <CopyButton text={digest} what="digest" />
        </dd>
        {link === null ? null : (
          <>
            <dt>Link</dt>
            <dd>
              <CopyButton text={link} what="link" />
            </dd>
          </>
        )}
      </dl>
      <a class="link" href={conversationAddress(conversation, "", { at: id })}>
        Show in the conversation
      </a>
      {value === null ? null : <RawJson text={value.line} what={`entry ${record.seq}`} />}
      {error === null ? null : <Failure error={error} retry={reload} />}
    </div>
  );
}

/** One record: where it lies, what it is and how it is held; all it says when it is opened. */
export function RecordRow({
  conversation,
  record,
  isOpen,
  toggle,
}: {
  readonly conversation: string;
  readonly record: LogRecord;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}): JSX.Element {
  const { seq, type, id, bytes, digest, link, time, unreadable } = record;
  return (
    <div class={`rec ${isOpen ? "is-open" : ""}`}>
      <button
        class="rec-line"
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? `record-${seq}` : undefined}
        onClick={toggle}
      >
        <Icon name={isOpen ? "down" : "right"} />
        <span class="rec-seq">{seq}</span>
        <span class="rec-type cut">{type.replaceAll("_", " ")}</span>
        <span class="rec-id cut">
          {safeLine(id)}
          {unreadable ? (
            <span class="tag bad">
              <Icon name="warn" />
              corrupt: not JSON
            </span>
          ) : null}
        </span>
        <span class="rec-bytes num">
          {bytes.toLocaleString("en-US")}
          <span class="sr"> bytes</span>
        </span>
        <span class="rec-digest">
          <span class="sr">digest </span>
          {digest.slice(0, DIGEST_SHOWN)}
        </span>
        <span class="rec-link">{link === null ? null : "ends here"}</span>
        <span class="rec-time">
          <Clock time={time} />
        </span>
      </button>
      {isOpen ? <OpenedRecord conversation={conversation} record={record} /> : null}
    </div>
  );
}

/** A seq without a record: entries are never taken out of a log, so this one was lost. */
export function LostRow({ seq }: { readonly seq: number }): JSX.Element {
  return (
    <div class="rec lost">
      <Icon name="warn" />
      <span class="rec-seq">{seq}</span>
      <span>This record is missing from the store.</span>
    </div>
  );
}
