import type { JSX } from "preact";
import type { Api } from "#edges/http/client/index";
import { membersOf } from "#log/json/json-text";
import { safeLine, safeText } from "#transfer/views/safe-text";
import { Icon } from "../../parts/marks/icon.tsx";
import { countText } from "../../parts/numbers.ts";
import { RawJson } from "../../parts/raw-json.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { changeQuery, query } from "../../router/location.ts";
import { forkFrom } from "./fork-from.ts";
import { type RestoredMessage, restoredMessages } from "./restored-messages.ts";

type Hydrated = Api["hydrate"]["response"];

const VIEWS = [
  ["context", "Next request"],
  ["messages", "Its messages"],
  ["seeds", "Run inputs"],
  ["state", "State"],
  ["json", "JSON"],
] as const;
type View = (typeof VIEWS)[number][0];
const ROW_PX = 48;

const ABOUT: Readonly<Record<View, string>> = {
  context: "exactly what the next request would send, from any process",
  messages: "the messages of this run only",
  seeds: "what the model received when the run started",
  state: "the latest state at the end of the run",
  json: "everything, exactly",
};

function Message({
  message,
  fork,
}: {
  readonly message: RestoredMessage;
  readonly fork: ((entry: string) => void) | null;
}): JSX.Element {
  const { role, words, entry, note } = message;
  return (
    <div class="restored">
      <span class="restored-role">{safeLine(role)}</span>
      <div class="grow restored-words">{safeText(words)}</div>
      {note === "" ? null : <span class="tag">{note}</span>}
      {entry === null || fork === null ? null : (
        <button class="btn small" type="button" onClick={() => fork(entry)}>
          <Icon name="fork" />
          Fork here
        </button>
      )}
    </div>
  );
}

function Messages({
  messages,
  label,
  fork = null,
}: {
  readonly messages: readonly RestoredMessage[];
  readonly label: string;
  readonly fork?: ((entry: string) => void) | null;
}): JSX.Element {
  if (messages.length === 0) return <p class="muted">No messages.</p>;
  return (
    <VirtualList
      key={label}
      count={messages.length}
      role="list"
      rowRole="listitem"
      label={label}
      estimate={() => ROW_PX}
      keyOf={(index) => index}
      render={(index) => {
        const message = messages[index];
        return message === undefined ? <div /> : <Message message={message} fork={fork} />;
      }}
    />
  );
}

function Shown({
  view,
  hydrated,
  text,
  conversation,
}: {
  readonly view: View;
  readonly hydrated: Hydrated;
  readonly text: string;
  readonly conversation: string;
}): JSX.Element {
  const { run, state } = hydrated;
  switch (view) {
    case "context":
      return <Messages label="What is sent next" messages={restoredMessages("context", hydrated)} />;
    case "messages":
      return (
        <Messages
          label="Messages of the run"
          messages={restoredMessages("messages", hydrated)}
          fork={(entry) => void forkFrom(run.run, conversation, entry)}
        />
      );
    case "seeds":
      return <Messages label="Run inputs" messages={restoredMessages("seeds", hydrated)} />;
    case "state":
      return state === null ? (
        <p class="muted">No state.</p>
      ) : (
        <RawJson text={membersOf(text).find(({ name }) => name === "state")?.text ?? ""} what="the state" />
      );
    case "json":
      return <RawJson text={text} what="the run" />;
  }
}

/** What a process would be given that goes on with the run. */
export function Restored({
  hydrated,
  text,
  conversation,
}: {
  readonly hydrated: Hydrated;
  /** The same as it came, to the letter. */
  readonly text: string;
  readonly conversation: string;
}): JSX.Element {
  const asked = query.value.get("show");
  const view = VIEWS.find(([name]) => name === asked)?.[0] ?? "context";
  const { context, messages, seeds, state } = hydrated;
  const counts: Readonly<Record<View, string>> = {
    context: String(context.messages.length),
    messages: String(messages.length),
    seeds: String(seeds.length),
    state: state === null ? "none" : "",
    json: "",
  };
  return (
    <section aria-labelledby="restored-h">
      <div class="block-head">
        <h3 id="restored-h">Restored</h3>
        <span class="seg" role="group" aria-label="What is restored">
          {VIEWS.map(([name, words]) => (
            <button
              key={name}
              type="button"
              aria-pressed={view === name}
              onClick={() => changeQuery({ show: name === "context" ? null : name })}
            >
              {words} {counts[name]}
            </button>
          ))}
        </span>
        <span class="muted" data-testid={`about-${view}`}>
          {ABOUT[view]}
        </span>
      </div>
      {view === "context" && context.issues.length > 0 ? (
        <p class="muted">{countText(context.issues.length, "repair")} made so that a model takes it.</p>
      ) : null}
      <Shown view={view} hydrated={hydrated} text={text} conversation={conversation} />
    </section>
  );
}
