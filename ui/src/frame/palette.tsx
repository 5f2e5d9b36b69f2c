import { nameOf } from "../text/conversation-name.ts";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { client } from "../data/api-client.ts";
import { useLoaded } from "../data/loaded.ts";
import { nextTheme } from "../data/preferences.ts";
import { Icon, type IconName } from "../parts/marks/icon.tsx";
import { addressOf, conversationAddress } from "../router/addresses.ts";
import { navigate } from "../router/location.ts";
import { startTour } from "../tour/tour-under-way.ts";
import { Dialog } from "./dialog.tsx";
import { openOverlay } from "./overlays.tsx";
import { NAVIGATED } from "./sidebar.tsx";

interface Choice {
  readonly name: string;
  readonly where: string;
  readonly icon: IconName;
  readonly run: () => void;
}

const FOUND_MAX = 12;

const COMMANDS: readonly Choice[] = [
  ...NAVIGATED.map(({ path, title, icon = "history" }): Choice => ({
    name: title,
    where: "page",
    icon,
    run: () => navigate(path),
  })),
  { name: "Switch theme", where: "look", icon: "theme", run: nextTheme },
  { name: "Take the 2-minute tour", where: "help", icon: "runs", run: () => void startTour() },
  { name: "Keyboard shortcuts", where: "help", icon: "context", run: () => openOverlay("keys") },
];

function choicesOf(typed: string, conversations: readonly Choice[]): readonly Choice[] {
  const holds = ({ name }: Choice): boolean => name.toLowerCase().includes(typed.toLowerCase());
  // What was found for the words before stands until what is found for these is there.
  const [commands, found] = [COMMANDS.filter(holds), conversations.filter(holds)];
  const search: Choice = {
    name: `Search all text for “${typed}”`,
    where: "history",
    icon: "search",
    run: () => navigate(addressOf("/", { q: typed })),
  };
  return typed === "" ? [...commands, ...found] : [...found, ...commands, search];
}

/** Pages, conversations by their titles, and what can be done anywhere. */
export function Palette({ close }: { readonly close: () => void }): JSX.Element {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const { value } = useLoaded(
    (signal) =>
      client.listConversations({ limit: FOUND_MAX, ...(typed === "" ? {} : { title: typed }) }, { signal }),
    [typed],
  );
  const found = (value?.conversations ?? []).map(({ conversation, title }): Choice => ({
    name: nameOf(conversation, title),
    where: "conversation",
    icon: "history",
    run: () => navigate(conversationAddress(conversation)),
  }));
  const choices = choicesOf(typed, found);
  const chosen = Math.min(at, choices.length - 1);
  const pick = (choice: Choice | undefined): void => {
    close();
    choice?.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter") pick(choices[chosen]);
    else if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, choices.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, chosen - 1));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Search or jump" close={close} hasHead={false}>
      <input
        class="palette-input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${chosen}`}
        aria-label="Search or jump"
        placeholder="Page, title or command"
        value={typed}
        autofocus
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <ul class="over-body" id="palette-list" role="listbox" aria-label="Results">
        {choices.map((choice, place) => (
          <li
            key={`${choice.where} ${choice.name} ${place}`}
            id={`palette-${place}`}
            class="palette-row"
            role="option"
            aria-selected={place === chosen}
            onClick={() => pick(choice)}
          >
            <Icon name={choice.icon} />
            <span class="cut">{choice.name}</span>
            <span class="where">{choice.where}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
