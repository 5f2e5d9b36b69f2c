import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { client } from "../../data/api-client.ts";
import { attempted } from "./entry/acts.ts";

/** The title, which a press makes a field. */
export function TitleLine({
  conversation,
  title,
}: {
  readonly conversation: string;
  readonly title: string;
}): JSX.Element {
  const [typed, setTyped] = useState<string | null>(null);
  const save = (): void => {
    const next = typed?.trim() ?? "";
    setTyped(null);
    if (next !== "" && next !== title) void attempted(() => client.setTitle({ conversation, title: next }));
  };
  return (
    <h1 class="cut">
      {typed === null ? (
        <button class="title-button cut" type="button" title="Rename" onClick={() => setTyped(title)}>
          {title}
        </button>
      ) : (
        <input
          class="title-input"
          aria-label="Title"
          value={typed}
          autofocus
          onInput={(event) => setTyped(event.currentTarget.value)}
          onBlur={save}
          onKeyDown={(event) => {
            if (event.key === "Enter") save();
            if (event.key === "Escape") setTyped(null);
          }}
        />
      )}
    </h1>
  );
}
