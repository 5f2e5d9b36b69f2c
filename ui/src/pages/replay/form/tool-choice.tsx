import type { JSX } from "preact";
import type { ReplayOffer } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { Icon } from "../../../parts/marks/icon.tsx";
import { changeQuery } from "../../../router/location.ts";
import { TOOL_MODES, type ToolMode, toolsToAgree } from "./replay-choices.ts";

const WORDS: Readonly<Record<ToolMode, readonly [string, string]>> = {
  "dry-run": ["Dry-run", "no side effects: a tool reports what it would do, or counts as not run"],
  recorded: ["Recorded", "no tool runs: every call returns its recorded result"],
  live: ["Live", "tools run again; you approve every side effect"],
};

/** Each tool that would act again is agreed to by itself. */
function Agreements({
  names,
  agreed,
  agree,
}: {
  readonly names: readonly string[];
  readonly agreed: ReadonlySet<string>;
  readonly agree: (name: string, yes: boolean) => void;
}): JSX.Element {
  return (
    <div class="banner unknown agreements" role="group" aria-label="Tools that would run again">
      <Icon name="warn" />
      <div class="grow">
        <p>
          <b>These tools run again.</b> Files and external effects of the original are not undone.
        </p>
        {names.map((name) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={agreed.has(name)}
              onChange={(event) => agree(name, event.currentTarget.checked)}
            />
            <span>
              <code>{safeLine(name)}</code> may run again; ask me each time
            </span>
          </label>
        ))}
      </div>
    </div>
  );
}

function Here({ offer: { tools, absent } }: { readonly offer: ReplayOffer }): JSX.Element {
  const names = tools.map(({ name }) => safeLine(name)).join(", ");
  return (
    <p class="faint">
      {tools.length === 0 ? "This server has no tools." : `Available: ${names}.`}
      {absent.length === 0
        ? ""
        : `  Used by the original but not available: ${absent.map((name) => safeLine(name)).join(", ")}.`}
    </p>
  );
}

export function ToolChoice({
  offer,
  mode,
  agreed,
  agree,
}: {
  readonly offer: ReplayOffer;
  readonly mode: ToolMode;
  readonly agreed: ReadonlySet<string>;
  readonly agree: (name: string, yes: boolean) => void;
}): JSX.Element {
  const names = toolsToAgree(offer, mode);
  return (
    <fieldset class="replay-field">
      <legend>Tools</legend>
      <div>
        {TOOL_MODES.map((one) => (
          <label key={one} class="check">
            <input
              type="radio"
              name="tools"
              checked={mode === one}
              onChange={() => changeQuery({ tools: one === "dry-run" ? null : one })}
            />
            <span>
              <b>{WORDS[one][0]}</b> <span class="muted">{WORDS[one][1]}</span>
            </span>
          </label>
        ))}
        {names.length === 0 ? null : <Agreements names={names} agreed={agreed} agree={agree} />}
        <Here offer={offer} />
      </div>
    </fieldset>
  );
}
