import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { MemoryView } from "#edges/http/client/views";
import { safeLine, safeText } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { mayWrite } from "../../frame/store-foot.tsx";
import { say } from "../../frame/said.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { Ago, Moment } from "../../parts/shown-time.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { changeQuery, query } from "../../router/location.ts";
import { MemoryChanges } from "./memory-changes.tsx";
import type { ScopeAsked } from "./asked-scope.ts";
import { RememberForm } from "./remember-form.tsx";
import { savedBy } from "./saved-by.ts";

interface ItemProps {
  readonly memory: MemoryView;
  readonly asked: ScopeAsked;
  /** The log that it stands in. */
  readonly log: string | null;
}

function Facts({ memory, log }: Omit<ItemProps, "asked">): JSX.Element {
  const { key, kind, tags, keywords, by, conversation, createdAt, updatedAt, removedAt, entry } = memory;
  const words = [...tags, ...keywords];
  return (
    <dl class="kv">
      <dt>Key</dt>
      <dd>
        <CopyButton text={key} what="key" />
      </dd>
      <dt>Kind</dt>
      <dd>{safeLine(kind.replaceAll("_", " "))}</dd>
      {words.length === 0 ? null : (
        <>
          <dt>Found by</dt>
          <dd>{words.map(safeLine).join(", ")}</dd>
        </>
      )}
      <dt>Saved by</dt>
      <dd>
        {safeLine(savedBy(by))}
        {conversation === null ? null : (
          <>
            {" in "}
            <a class="link mono" href={conversationAddress(conversation)}>
              {safeLine(conversation)}
            </a>
          </>
        )}
      </dd>
      <dt>First saved</dt>
      <dd>
        <Moment time={createdAt} />
      </dd>
      <dt>{removedAt === null ? "Last saved" : "Removed"}</dt>
      <dd>
        <Moment time={removedAt ?? updatedAt} />
        {log === null ? null : (
          <>
            {" · "}
            <a class="link" href={conversationAddress(log, "log", { at: entry })}>
              record in the log
            </a>
          </>
        )}
      </dd>
    </dl>
  );
}

/** Removes it, or brings it back; the list is told by its log. */
function Acts({ memory, asked }: Omit<ItemProps, "log">): JSX.Element {
  const [error, setError] = useState<unknown>(null);
  const isRemoved = memory.removedAt !== null;
  const act = async (): Promise<void> => {
    setError(null);
    try {
      const given = { ...asked, memory: memory.key };
      await (isRemoved ? client.restoreMemory(given) : client.removeMemory(given));
      say(isRemoved ? "Restored" : "Removed. Models no longer receive it.");
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <div class="row-flex wrap">
        {isRemoved ? null : (
          <button class="btn small" type="button" onClick={() => changeQuery({ edit: memory.key })}>
            <Icon name="edit" />
            Edit
          </button>
        )}
        <button class="btn small" type="button" onClick={() => void act()}>
          <Icon name={isRemoved ? "replay" : "x"} />
          {isRemoved ? "Restore" : "Remove"}
        </button>
        <span class="faint">
          {isRemoved ? "Models do not receive it until you restore it." : "You can restore removed notes."}
        </span>
      </div>
      {error === null ? null : <Failure error={error} />}
    </>
  );
}

function Opened({ memory, asked, log }: ItemProps): JSX.Element {
  const isEdited = mayWrite.value && query.value.get("edit") === memory.key && memory.removedAt === null;
  if (isEdited)
    return (
      <div class="fx-open">
        <RememberForm asked={asked} of={memory} done={() => changeQuery({ edit: null })} />
      </div>
    );
  return (
    <div class="fx-open">
      <p class="memory-words">{safeText(memory.content)}</p>
      <Facts memory={memory} log={log} />
      {mayWrite.value ? <Acts memory={memory} asked={asked} /> : null}
      <MemoryChanges memory={memory} asked={asked} log={log} />
    </div>
  );
}

/** Something that is remembered: its title and first words; all of it when it is opened. */
export function RememberedItem({
  isOpen,
  toggle,
  ...item
}: ItemProps & { readonly isOpen: boolean; readonly toggle: () => void }): JSX.Element {
  const { title, content, kind, by, updatedAt, removedAt } = item.memory;
  const words = safeLine(content.slice(0, 400));
  return (
    <div class="fx">
      <button class="fx-line memory-line" type="button" aria-expanded={isOpen} onClick={toggle}>
        <Icon name={isOpen ? "down" : "right"} />
        <span class="cut">
          <b>{safeLine(title)}</b> <span class="muted">{words === safeLine(title) ? "" : words}</span>
        </span>
        <span class="tag">{safeLine(kind.replaceAll("_", " ")).slice(0, 40)}</span>
        <span class="memory-by badge">
          <Icon name={by === "model" ? "model" : "user"} />
          {by === "model" ? "model" : "person"}
        </span>
        <span class="num faint">
          <Ago time={removedAt ?? updatedAt} />
        </span>
      </button>
      {isOpen ? <Opened {...item} /> : null}
    </div>
  );
}
