import type { JSX } from "preact";
import type { ThreadRow } from "#edges/http/client/views";
import { forkProblemText } from "#operations/text";
import { KEY_TABLE, keyWords } from "../../../frame/key-table.ts";
import { copyText } from "../../../parts/copy-button.tsx";
import { Icon } from "../../../parts/marks/icon.tsx";
import { Menu, type MenuItem } from "../../../parts/menu.tsx";
import { addressOf, conversationAddress } from "../../../router/addresses.ts";
import { query } from "../../../router/location.ts";
import { CopyIcon } from "../../../text/copy-icon.tsx";
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

/** What is done less often, in words. */
function moreActions({ row, conversation, label }: ActionsProps): readonly MenuItem[] {
  const { entry, hidden: isHidden, source } = row;
  const link = conversationAddress(conversation, "", { at: entry.id });
  const leaf = query.value.get("leaf");
  return [
    ...(hasPage("/replay")
      ? [
          {
            name: "Replay from here",
            icon: "replay",
            act: addressOf("/replay", { conversation, at: entry.id, leaf }),
          } as const,
        ]
      : []),
    {
      name: "Context here",
      icon: "context",
      act: conversationAddress(conversation, "context", { at: entry.id }),
    },
    { name: "Label", icon: "label", act: label, keys: keyWords(KEY_TABLE.label.keys) },
    {
      name: isHidden ? "Show to the model" : "Hide from the model",
      icon: "hide",
      act: () => void setHidden(conversation, entry.id, !isHidden),
    },
    {
      name: "Copy link",
      icon: "out",
      act: () => void copyText(new URL(link, window.location.href).href),
    },
    {
      name: "Copy ID",
      icon: "terminal",
      act: () => void copyText(`${conversation}@${entry.id}`),
      keys: keyWords(KEY_TABLE.copyAddress.keys),
    },
    ...(source === null
      ? [
          {
            name: "Raw record",
            icon: "ledger",
            act: conversationAddress(conversation, "log", { seq: String(entry.seq) }),
          } as const,
        ]
      : []),
  ];
}

/** What can be done at a message: above its edge, clear of its text. */
export function EntryActions(props: ActionsProps): JSX.Element {
  const { row, conversation, edit } = props;
  const { entry, noFork } = row;
  return (
    <div class="acts" role="toolbar" aria-label="Actions on this message">
      <button
        class="btn"
        type="button"
        aria-disabled={noFork === null ? undefined : "true"}
        aria-describedby={noFork === null ? undefined : `why-${entry.id}`}
        title={
          edit === undefined
            ? "New conversation that ends with this entry"
            : "New conversation that ends before this prompt"
        }
        onClick={() => void forkAt(conversation, row)}
      >
        <Icon name="fork" />
        <span>Fork</span>
        <kbd>{keyWords(KEY_TABLE.fork.keys)}</kbd>
      </button>
      {noFork === null ? null : (
        <span class="why-not" id={`why-${entry.id}`}>
          {forkProblemText(noFork)}
        </span>
      )}
      {edit === undefined ? null : (
        <button class="btn" type="button" onClick={edit}>
          <Icon name="edit" />
          <span>Edit</span>
          <kbd>{keyWords(KEY_TABLE.edit.keys)}</kbd>
        </button>
      )}
      {entry.type === "message" ? <CopyIcon text={wordsOf(entry.message.content)} what="text" /> : null}
      <Menu label="More actions" items={moreActions(props)} />
    </div>
  );
}
