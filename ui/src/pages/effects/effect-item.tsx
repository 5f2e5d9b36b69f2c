import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { withText } from "../../data/exact-text.ts";
import { useLoaded } from "../../data/loaded.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";
import { RawJson } from "../../parts/raw-json.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { tellingArgument } from "../../text/telling-argument.ts";
import { callInput } from "./call-input.ts";
import type { EffectState, ListedEffect, PlacedEffect } from "./effect-order.ts";

interface Said {
  readonly icon: IconName;
  readonly words: string;
  readonly tone: string;
  readonly about: string;
}

const SAID: Readonly<Record<EffectState, Said>> = {
  unknown: {
    icon: "unknown",
    words: "outcome unknown",
    tone: "unknown",
    about:
      "This call started but its outcome was not recorded, so it may have taken effect. Holdfast does not retry it, and the model reads “verify before retrying”.",
  },
  failed: { icon: "x", words: "failed", tone: "bad", about: "The tool reported a failure." },
  not_started: {
    icon: "dash",
    words: "not started",
    tone: "",
    about: "This call never started. It changed nothing.",
  },
  done: { icon: "check", words: "done", tone: "ok", about: "The log holds its outcome." },
};

function Places({
  conversation,
  effect,
}: {
  readonly conversation: string;
  readonly effect: ListedEffect;
}): JSX.Element {
  const { calledBy, intent, outcome } = effect;
  return (
    <div class="link-facts">
      {calledBy === null ? null : (
        <a class="link" href={conversationAddress(conversation, "", { at: calledBy })}>
          Show the call
        </a>
      )}
      {outcome === null ? null : (
        <a class="link" href={conversationAddress(conversation, "", { at: outcome })}>
          Show the outcome
        </a>
      )}
      {intent === null ? null : (
        <a class="link" href={conversationAddress(conversation, "log", { at: intent })}>
          Show the intent in the log
        </a>
      )}
    </div>
  );
}

/** With what it was called, as the log has it. */
function Arguments({
  conversation,
  effect: { call, calledBy, input },
  what,
}: {
  readonly conversation: string;
  readonly effect: ListedEffect;
  readonly what: string;
}): JSX.Element | null {
  const { value, isLoading } = useLoaded(
    async (signal) => {
      if (calledBy === null) return null;
      const entry = { conversation, entry: calledBy };
      return callInput((await withText(signal, (options) => client.getEntry(entry, options))).text, call);
    },
    [conversation, calledBy, call],
  );
  return isLoading && value === null ? null : <RawJson text={value ?? JSON.stringify(input)} what={what} />;
}

/** A call of a tool: whether it happened, with what, and where that stands. */
export function EffectItem({
  conversation,
  row: { effect, place },
  isOpen,
  toggle,
}: {
  readonly conversation: string;
  readonly row: PlacedEffect;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}): JSX.Element {
  const { call, name, input, state, how, replay } = effect;
  const { icon, words, tone, about } = SAID[state];
  return (
    <div class={state === "unknown" ? "fx is-unknown" : "fx"}>
      <button class="fx-line" type="button" aria-expanded={isOpen} onClick={toggle}>
        <Icon name={isOpen ? "down" : "right"} />
        <span class={`tag ${tone}`}>
          <Icon name={icon} />
          {how === null ? words : how}
        </span>
        <b class="mono cut">{safeLine(name)}</b>
        <span class="muted cut">{tellingArgument(input)}</span>
        <span class="faint fx-replay">{replay === "never" ? "never repeated" : "safe to repeat"}</span>
      </button>
      {isOpen ? (
        <div class="fx-open">
          <p>{about}</p>
          <Places conversation={conversation} effect={effect} />
          <CopyButton text={call} what="id of the call" />
          <Arguments
            conversation={conversation}
            effect={effect}
            what={`the arguments of call ${place + 1}`}
          />
        </div>
      ) : null}
    </div>
  );
}
