import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { promptTitle } from "#log/title";
import { client } from "../../../data/api-client.ts";
import { draftOf, setDraft, takeBack } from "../../../data/drafts.ts";
import { onKey, useKeys } from "../../../frame/keys.ts";
import { health, mayWrite } from "../../../frame/store-foot.tsx";
import { Icon } from "../../../parts/marks/icon.tsx";
import { changeQuery, stayed } from "../../../router/location.ts";
import { attempted } from "../entry/acts.ts";
import { follows } from "../thread/following.ts";
import { TroubleMenu } from "../trouble/trouble-menu.tsx";
import { agentFor, type Agents, type Carriers, choiceFor } from "./agent-choice.ts";
import { ModelChoice } from "./model-choice.tsx";
import { keepUnsent } from "./unsent-words.ts";
import { troublesOf } from "../trouble/trouble-table.ts";

interface ComposerProps {
  readonly conversation: string;
  readonly isWorking: boolean;
  /** The end of the branch that is shown, where it is not the conversation's own. */
  readonly leaf: string | null;
  /** It has no title yet: its first words become one. */
  readonly isUntitled: boolean;
  readonly agents: Agents | null;
  readonly by: Carriers;
  /** The last seq that is known of it. */
  readonly seq: number;
}

async function send(
  { conversation, isWorking, leaf, isUntitled, agents, by }: ComposerProps,
  words: string,
): Promise<boolean> {
  const isHere = stayed();
  if (isWorking) return (await attempted(() => client.steer({ conversation, content: words }))) !== null;
  if (leaf !== null && (await attempted(() => client.goTo({ conversation, entry: leaf }))) === null)
    return false;
  const chosen = choiceFor(conversation, agents ?? [], by);
  const begun = await attempted(() => client.send({ conversation, content: words, ...chosen }));
  if (begun === null) return false;
  keepUnsent(conversation, words, begun);
  if (leaf !== null && isHere()) changeQuery({ leaf: null, at: null });
  const title = isUntitled ? promptTitle(words) : null;
  if (title !== null) await attempted(() => client.setTitle({ conversation, title }));
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

/** Why nothing can be sent, and what would help; null where it can. */
function barredWords(isClosed: boolean, hasAgent: boolean): string | null {
  if (isClosed) return "This conversation is read-only here. You cannot send messages.";
  if (hasAgent) return null;
  return "This server has no agent, so you cannot send messages. Restart it with --model PROVIDER/NAME, --agent NAME=COMMAND --cwd FOLDER, or --agent simulated.";
}

/** Where a person writes: a prompt, or words for the turn that runs. */
export function Composer(props: ComposerProps): JSX.Element {
  const { conversation, isWorking, leaf, agents, by, seq } = props;
  const words = draftOf(conversation);
  const input = useRef<HTMLTextAreaElement>(null);
  const isClosed = !mayWrite.value;
  const agent = agentFor(conversation, agents ?? [], by);
  const hasAgent = agents === null || agents.length > 0;
  const submit = (): void => {
    if (words.trim() === "" || isClosed || !hasAgent) return;
    follows.value = true;
    setDraft(conversation, "");
    void send(props, words).then((isSent) => isSent || takeBack(conversation, words));
  };
  useKeys([onKey("write", () => input.current?.focus())]);
  useEffect(() => {
    if (input.current === null) return;
    input.current.style.height = "auto";
    input.current.style.height = `${Math.min(240, input.current.scrollHeight)}px`;
  }, [words]);
  const barred = barredWords(isClosed && health.value !== null, hasAgent);
  const placeholder = isWorking
    ? "Message the running turn"
    : leaf === null
      ? "Write a prompt"
      : "Write a prompt to continue this branch";
  return (
    <form
      class="composer"
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {barred === null ? null : <p class="barred">{barred}</p>}
      <label class="sr" for="prompt">
        Message to the agent
      </label>
      <textarea
        id="prompt"
        dir="auto"
        ref={input}
        rows={1}
        placeholder={barred === null ? placeholder : ""}
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
        <ModelChoice conversation={conversation} agents={agents ?? []} by={by} />
        <span class="grow" />
        {agent === undefined || troublesOf(agent).length === 0 ? null : (
          <TroubleMenu agent={agent} conversation={conversation} seq={seq} isWorking={isWorking} />
        )}
        {isWorking ? <Stop conversation={conversation} /> : null}
        <button class="btn primary" type="submit" disabled={isClosed || barred !== null}>
          <Icon name="steer" />
          {isWorking ? "Send now" : "Send"}
        </button>
      </div>
    </form>
  );
}
