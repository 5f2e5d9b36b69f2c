import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useFocusedField } from "../../../parts/kept-focus.ts";
import { resubmit, setLabel } from "./acts.ts";

interface FormProps {
  readonly conversation: string;
  readonly entry: string;
  readonly first: string;
  readonly close: () => void;
}

/** Only this is left, and not the page behind it. */
function leave(event: KeyboardEvent, close: () => void): void {
  event.preventDefault();
  close();
}

/** Other words for a prompt, on a branch of their own. */
export function EditForm({ conversation, entry, first, close }: FormProps): JSX.Element {
  const [words, setWords] = useState(first);
  const field = useFocusedField<HTMLTextAreaElement>();
  const send = (): void => {
    if (words.trim() === "") return;
    void resubmit(conversation, entry, words).then((done) => done && close());
  };
  return (
    <form
      class="edit-form"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        aria-label="Edit message"
        dir="auto"
        rows={Math.min(12, words.split("\n").length + 1)}
        value={words}
        ref={field}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") leave(event, close);
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
        }}
      />
      <p class="muted">The original stays as a branch. Files and external effects are not undone.</p>
      <p class="row-flex">
        <button class="btn primary" type="submit">
          Save as new branch and run
        </button>
        <button class="btn" type="button" onClick={close}>
          Cancel
        </button>
      </p>
    </form>
  );
}

/** A name for an entry; an empty one takes it away. */
export function LabelForm({ conversation, entry, first, close }: FormProps): JSX.Element {
  const [label, setText] = useState(first);
  const field = useFocusedField<HTMLInputElement>();
  return (
    <form
      class="row-flex"
      onSubmit={(event) => {
        event.preventDefault();
        void setLabel(conversation, entry, label.trim()).then((done) => done && close());
      }}
    >
      <span class="field grow">
        <input
          aria-label="Label"
          placeholder="Label (leave empty to remove)"
          value={label}
          ref={field}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && leave(event, close)}
        />
      </span>
      <button class="btn" type="submit">
        Label
      </button>
      <button class="btn quiet" type="button" onClick={close}>
        Cancel
      </button>
    </form>
  );
}
