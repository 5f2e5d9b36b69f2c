import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { safeLine } from "#transfer/shown/shown-text";
import { client } from "../../../data/api-client.ts";
import { useLoaded } from "../../../data/loaded.ts";
import { onKey, useKeys } from "../../../frame/keys.ts";
import { mayWrite } from "../../../frame/store-foot.tsx";
import { Icon } from "../../../parts/marks/icon.tsx";
import { changeQuery } from "../../../router/location.ts";
import { attempted, drafts, setDraft } from "../entry/acts.ts";
import { follows } from "../thread/following.ts";
import { chosenAgent, ModelChoice } from "./model-choice.tsx";
import { TroubleMenu } from "./trouble-menu.tsx";
import { keepUnsent } from "./unsent-words.ts";

interface ComposerProps {
  readonly conversation: string;
  readonly isWorking: boolean;
  /** The end of the branch that is shown, where it is not the conversation's own. */
  readonly leaf: string | null;
  /** It has no title yet: its first words become one. */
  readonly isUntitled: boolean;
  /** The last turn was cut off, failed or is parked. */
  readonly isUnfinished: boolean;
}

const TITLE_CHARS_MAX = 72;

function titleOf(words: string): string {
  const line = safeLine(words);
  return line.length <= TITLE_CHARS_MAX ? line : `${line.slice(0, TITLE_CHARS_MAX - 1).toWellFormed()}…`;
}

async function send(
  { conversation, isWorking, leaf, isUntitled }: ComposerProps,
  words: string,
): Promise<boolean> {
  if (isWorking) return (await attempted(() => client.steer({ conversation, content: words }))) !== null;
  if (leaf !== null && (await attempted(() => client.goTo({ conversation, entry: leaf }))) === null)
    return false;
  const chosen = chosenAgent.value;
  const begun = await attempted(() => client.send({ conversation, content: words, ...chosen }));
  if (begun === null) return false;
  keepUnsent(conversation, words, begun);
  if (isUntitled) await attempted(() => client.setTitle({ conversation, title: titleOf(words) }));
  if (leaf !== null) changeQuery({ leaf: null, at: null });
  return true;
}

function Stop({ conversation }: { readonly conversation: string }): JSX.Element {
  return (
    <button
      class="btn"
      type="button"
      aria-label="Stop this turn"
      onClick={() => void attempted(() => client.cancel({ conversation }))}
    >
      <Icon name="stop" />
      <span class="wide">Stop</span>
    </button>
  );
}

function GoOn({ conversation }: { readonly conversation: string }): JSX.Element {
  const act = (how: "continueTurn" | "retry"): void =>
    void attempted(() => client[how]({ conversation, ...chosenAgent.value }));
  return (
    <>
      <button class="btn" type="button" onClick={() => act("continueTurn")}>
        <Icon name="runs" />
        Continue
      </button>
      <button class="btn quiet" type="button" onClick={() => act("retry")}>
        <Icon name="replay" />
        <span class="wide">Send the prompt again</span>
      </button>
    </>
  );
}

/** Where a person writes: a prompt, or words for the turn that runs. */
export function Composer(props: ComposerProps): JSX.Element {
  const { conversation, isWorking, leaf, isUnfinished } = props;
  const words = drafts.value.get(conversation) ?? "";
  const input = useRef<HTMLTextAreaElement>(null);
  const agents = useLoaded((signal) => client.listAgents({}, { signal }), []);
  const isClosed = !mayWrite.value;
  const hasAgent = (agents.value?.agents.length ?? 0) > 0;
  const submit = (): void => {
    if (words.trim() === "" || isClosed) return;
    follows.value = true;
    setDraft(conversation, "");
    void send(props, words).then((isSent) => isSent || setDraft(conversation, words));
  };
  useKeys([onKey("write", () => input.current?.focus())]);
  useEffect(() => {
    if (input.current === null) return;
    input.current.style.height = "auto";
    input.current.style.height = `${Math.min(240, input.current.scrollHeight)}px`;
  }, [words]);
  const placeholder = isWorking
    ? "Steer this turn"
    : hasAgent
      ? leaf === null
        ? "Write a prompt"
        : "Write a prompt; it goes on from this branch"
      : "This server has no agent; start it with one to write here";
  return (
    <form
      class="composer"
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label class="sr" for="prompt">
        Message to the agent
      </label>
      <textarea
        id="prompt"
        ref={input}
        rows={1}
        placeholder={placeholder}
        value={words}
        disabled={isClosed}
        onInput={(event) => setDraft(conversation, event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          submit();
        }}
      />
      <div class="composer-bar">
        <ModelChoice agents={agents.value?.agents ?? []} />
        <span class="grow" />
        <TroubleMenu agents={agents.value?.agents ?? []} isWorking={isWorking} />
        {isWorking ? <Stop conversation={conversation} /> : null}
        {isUnfinished && !isWorking ? <GoOn conversation={conversation} /> : null}
        <button class="btn primary" type="submit" disabled={isClosed || !hasAgent}>
          <Icon name="steer" />
          {isWorking ? "Steer" : "Send"}
        </button>
      </div>
    </form>
  );
}
