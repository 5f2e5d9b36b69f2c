import { nameOf } from "../../../text/conversation-name.ts";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ReplayOffer } from "#edges/http/client/views";
import { safeLine, shortId } from "#transfer/views/safe-text";
import { client } from "../../../data/api-client.ts";
import { Failure } from "../../../parts/failure.tsx";
import { Icon } from "../../../parts/marks/icon.tsx";
import { countText } from "../../../parts/numbers.ts";
import { conversationAddress } from "../../../router/addresses.ts";
import { changeQuery, navigate, query } from "../../../router/location.ts";
import {
  choicesIn,
  modelsText,
  refusalOf,
  type ReplayChoices,
  replayInput,
  sentCount,
} from "./replay-choices.ts";
import { ToolChoice } from "./tool-choice.tsx";

const WORDS_SHOWN = 90;

function Source({ offer: { source, title } }: { readonly offer: ReplayOffer }): JSX.Element {
  const { conversation, entry, run } = source;
  return (
    <div class="block-head">
      <h2>
        <a href={conversationAddress(conversation, "", { at: entry })}>{nameOf(conversation, title)}</a>
      </h2>
      <span class="muted cut">
        {run === null ? "up to " : "the run "}
        <code title={safeLine(run ?? entry)}>{shortId(run ?? entry)}</code>
      </span>
    </div>
  );
}

/** The first prompt that is sent again; those before it are kept. */
function FromPrompt({ offer, turns }: { readonly offer: ReplayOffer; readonly turns: string }): JSX.Element {
  const { prompts, promptCount, first } = offer;
  const sent = sentCount(offer, turns);
  const kept = first - 1;
  return (
    <div class="replay-field">
      <label for="replay-from">From prompt</label>
      <div>
        <select
          id="replay-from"
          class="choice wide-choice"
          value={String(first)}
          aria-describedby="replay-from-more"
          onChange={(event) => {
            const chosen = prompts.find(({ number }) => String(number) === event.currentTarget.value);
            changeQuery({ at: chosen?.entry ?? null });
          }}
        >
          {prompts.some(({ number }) => number === first) ? null : (
            <option value={String(first)}>{`${first} of ${promptCount}`}</option>
          )}
          {prompts.map(({ number, text }) => (
            <option key={number} value={String(number)}>
              {`${number} of ${promptCount}: ${safeLine(text.slice(0, WORDS_SHOWN))}`}
            </option>
          ))}
        </select>
        <p id="replay-from-more" class="faint" data-testid="replay-scope">
          {countText(sent, "prompt")} {sent === 1 ? "is" : "are"} sent again
          {kept === 0 ? "" : `; ${countText(kept, "turn")} before ${kept === 1 ? "is" : "are"} kept`}
          {prompts.length < promptCount ? `. The newest ${prompts.length} are listed` : ""}.
        </p>
      </div>
    </div>
  );
}

function Models({
  offer,
  chosen,
}: {
  readonly offer: ReplayOffer;
  readonly chosen: readonly string[];
}): JSX.Element {
  const toggle = (model: string): void => {
    const next = chosen.includes(model) ? chosen.filter((one) => one !== model) : [...chosen, model];
    changeQuery({ models: modelsText(next) });
  };
  return (
    <fieldset class="replay-field">
      <legend>Models</legend>
      <div>
        <div class="replay-models">
          {offer.models.map((model) => (
            <label key={model} class="check">
              <input type="checkbox" checked={chosen.includes(model)} onChange={() => toggle(model)} />
              <code>{safeLine(model)}</code>
              {MODEL_WORDS[model] === undefined ? null : <span class="muted">{MODEL_WORDS[model]}</span>}
            </label>
          ))}
        </div>
        <p class="faint">Each model runs on its own fork.</p>
      </div>
    </fieldset>
  );
}

/** What needs no key says so, and what one sees of it. */
const MODEL_WORDS: { readonly [model: string]: string } = {
  sim: "simulated, no API key: behaves like the simulated agent",
  "sim/cautious": "simulated, no API key: calls no tool, to show differing calls",
};

function Limits({ choices: { cost, turns } }: { readonly choices: ReplayChoices }): JSX.Element {
  return (
    <fieldset class="replay-field">
      <legend>At most</legend>
      <div class="replay-limits">
        <label>
          <input
            type="text"
            inputMode="numeric"
            size={5}
            value={turns}
            onInput={(event) => changeQuery({ turns: event.currentTarget.value })}
          />{" "}
          turns
        </label>
        <label>
          ${" "}
          <input
            type="text"
            inputMode="decimal"
            size={6}
            value={cost}
            aria-label="Dollars for each model"
            onInput={(event) => changeQuery({ cost: event.currentTarget.value })}
          />{" "}
          for each model
        </label>
        <span class="faint">Empty: no limit.</span>
      </div>
    </fieldset>
  );
}

function SystemWords({
  system,
  change,
}: {
  readonly system: string;
  readonly change: (words: string) => void;
}): JSX.Element {
  return (
    <div class="replay-field">
      <label for="replay-system">System prompt</label>
      <div>
        <textarea
          id="replay-system"
          rows={3}
          value={system}
          placeholder="Unchanged. Type to replace it on the forks."
          onInput={(event) => change(event.currentTarget.value)}
        />
      </div>
    </div>
  );
}

/** What is chosen stands in the address, but for long words and what was agreed to. */
export function ReplayForm({
  offer,
  from,
}: {
  readonly offer: ReplayOffer;
  readonly from: string | null;
}): JSX.Element {
  const choices = choicesIn(query.value, offer);
  const [system, setSystem] = useState("");
  const [agreed, setAgreed] = useState<ReadonlySet<string>>(new Set());
  const [failed, setFailed] = useState<unknown>(null);
  const [isStarting, setStarting] = useState(false);
  const refusal = refusalOf(choices, offer, agreed);
  const start = async (): Promise<void> => {
    if (refusal !== null || isStarting) return;
    setStarting(true);
    setFailed(null);
    try {
      const { replay } = await client.startReplay(replayInput({ offer, choices, from, system }));
      navigate(`/replay/${encodeURIComponent(replay)}`);
    } catch (error) {
      setFailed(error);
      setStarting(false);
    }
  };
  return (
    <form
      class="block replay-form"
      aria-label="Replay"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void start();
      }}
    >
      <Source offer={offer} />
      <FromPrompt offer={offer} turns={choices.turns} />
      <Models offer={offer} chosen={choices.models} />
      <ToolChoice
        offer={offer}
        mode={choices.tools}
        agreed={agreed}
        agree={(name, yes) => {
          const next = new Set(agreed);
          if (yes) next.add(name);
          else next.delete(name);
          setAgreed(next);
        }}
      />
      <SystemWords system={system} change={setSystem} />
      <Limits choices={choices} />
      {failed === null ? null : <Failure error={failed} />}
      <div class="replay-start">
        <button class="btn primary" type="submit" disabled={refusal !== null || isStarting}>
          <Icon name="replay" />
          Start the replay
          <kbd>Ctrl Enter</kbd>
        </button>
        <span class={refusal === null ? "muted" : "unknown-text"} role="status" data-testid="replay-refusal">
          {refusal ?? (isStarting ? "Preparing…" : "")}
        </span>
      </div>
    </form>
  );
}
