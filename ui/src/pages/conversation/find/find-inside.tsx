import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../../data/api-client.ts";
import { useLoaded } from "../../../data/loaded.ts";
import { Dialog } from "../../../frame/dialog.tsx";
import { countText } from "../../../parts/numbers.ts";
import { changeQuery } from "../../../router/location.ts";
import { MarkedText } from "../../../text/marked-text.tsx";

/** Whether words of this conversation are looked for: a browser finds only what is on the screen. */
export const isFinding: Signal<boolean> = signal(false);

const HITS_MAX = 50;

function saidOf(typed: string, hits: number | null): string {
  if (typed.trim() === "") return "Searches every entry, including those that are not loaded.";
  if (hits === null) return "Searching…";
  return hits === 0 ? "No matches" : hits === HITS_MAX ? `The first ${HITS_MAX}` : countText(hits, "hit");
}

interface Hit {
  readonly entry: string;
  readonly seq: number;
  readonly snippet: string;
}

function Hits({
  hits,
  words,
  chosen,
  show,
}: {
  readonly hits: readonly Hit[];
  readonly words: string;
  readonly chosen: number;
  readonly show: (entry: string) => void;
}): JSX.Element {
  return (
    <ul class="over-body" id="find-list" role="listbox" aria-label="Matching entries">
      {hits.map(({ entry, seq, snippet }, place) => (
        <li
          key={entry}
          id={`find-${place}`}
          class="palette-row find-row"
          role="option"
          aria-selected={place === chosen}
          onClick={() => show(entry)}
        >
          <span class="mono faint">{seq}</span>
          <span class="find-text">
            <MarkedText text={safeLine(snippet)} words={words} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Entries of a conversation that hold every word; Enter shows one. */
export function FindInside({ conversation }: { readonly conversation: string }): JSX.Element | null {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const isOpen = isFinding.value;
  const { value } = useLoaded(
    async (stop) =>
      typed.trim() === "" || !isOpen
        ? null
        : {
            of: typed,
            hits: (await client.search({ q: typed, conversation, limit: HITS_MAX }, { signal: stop })).hits,
          },
    [typed, conversation, isOpen],
  );
  if (!isOpen) return null;
  const hits = typed.trim() === "" ? [] : (value?.hits ?? []);
  const chosen = Math.min(at, hits.length - 1);
  const close = (): void => void (isFinding.value = false);
  const show = (entry: string | undefined): void => {
    if (entry === undefined) return;
    close();
    changeQuery({ at: entry, leaf: null });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter") show(hits[chosen]?.entry);
    else if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, hits.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, chosen - 1));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Find in this conversation" close={close} hasHead={false}>
      <input
        class="palette-input"
        role="combobox"
        aria-expanded="true"
        aria-controls="find-list"
        aria-activedescendant={hits.length === 0 ? undefined : `find-${chosen}`}
        aria-label="Find in this conversation"
        placeholder="Text to find"
        value={typed}
        autofocus
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <p class="find-said muted" role="status">
        {saidOf(typed, value?.of === typed ? hits.length : null)}
      </p>
      <Hits hits={hits} words={typed} chosen={chosen} show={show} />
    </Dialog>
  );
}
