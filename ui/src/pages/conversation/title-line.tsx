import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { client } from "../../data/api-client.ts";
import { useFocusedField } from "../../parts/kept-focus.ts";
import { attempted } from "./entry/acts.ts";

function TitleField({
  typed,
  change,
  save,
}: {
  readonly typed: string;
  readonly change: (typed: string | null) => void;
  readonly save: (typed: string) => void;
}): JSX.Element {
  const field = useFocusedField<HTMLInputElement>();
  return (
    <input
      class="title-input"
      dir="auto"
      aria-label="Title"
      value={typed}
      ref={field}
      onInput={(event) => change(event.currentTarget.value)}
      onBlur={(event) => save(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return;
        event.preventDefault(); // the button that comes in its place would be pressed by the same key
        if (event.key === "Enter") save(event.currentTarget.value);
        else change(null);
      }}
    />
  );
}

/** The title, which a press makes a field. */
export function TitleLine({
  conversation,
  title,
}: {
  readonly conversation: string;
  readonly title: string;
}): JSX.Element {
  const [typed, setTyped] = useState<string | null>(null);
  const save = (given: string): void => {
    const next = given.trim();
    setTyped(null);
    if (next !== "" && next !== title) void attempted(() => client.setTitle({ conversation, title: next }));
  };
  return (
    <h1 class="cut" dir="auto">
      {typed === null ? (
        <button class="title-button cut" type="button" title="Rename" onClick={() => setTyped(title)}>
          {title}
        </button>
      ) : (
        <TitleField typed={typed} change={setTyped} save={save} />
      )}
    </h1>
  );
}
