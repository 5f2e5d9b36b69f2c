import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { changeQuery } from "../../router/location.ts";

/** Nothing is compared yet: which two? */
export function AskForTwo({ a, b }: { readonly a: string; readonly b: string }): JSX.Element {
  const [typed, setTyped] = useState({ a, b });
  return (
    <form
      class="compare-form"
      onSubmit={(event) => {
        event.preventDefault();
        changeQuery({ a: typed.a.trim(), b: typed.b.trim() });
      }}
    >
      <h1>Compare</h1>
      <p class="muted">
        Compare two branches, a conversation and its fork or replay, or any two conversations. You can select
        them in the tree.
      </p>
      {(["a", "b"] as const).map((side) => (
        <label key={side} class="pick">
          <span class={`side-${side}`}>{side.toUpperCase()}</span>
          <span class="field">
            <input
              aria-label={`${side.toUpperCase()}: conversation id, or id@entry`}
              placeholder="ID or ID@ENTRY"
              value={typed[side]}
              onInput={(event) => setTyped({ ...typed, [side]: event.currentTarget.value })}
            />
          </span>
        </label>
      ))}
      <button class="btn primary" type="submit" disabled={typed.a.trim() === "" || typed.b.trim() === ""}>
        Compare
      </button>
    </form>
  );
}
