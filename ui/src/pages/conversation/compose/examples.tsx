import type { JSX } from "preact";
import { setDraft } from "../../../data/drafts.ts";

interface Example {
  readonly words: string;
  readonly does: string;
}

/** What the simulated agent understands; it answers anything else by saying it back. */
const EXAMPLES: readonly Example[] = [
  { words: "My name is Ada", does: "states a fact" },
  { words: "What is my name?", does: "asks for the fact" },
  { words: "remember guest=Bea; recall guest", does: "two commands at once" },
  { words: "email ann about the cake", does: "calls a tool with a side effect" },
  { words: "work 100", does: "a long answer that you can stop" },
];

/** Words to begin with, for an agent that understands few; a press writes them, and nothing is sent yet. */
export function Examples({ conversation }: { readonly conversation: string }): JSX.Element {
  const write = (words: string): void => {
    setDraft(conversation, words);
    document.getElementById("prompt")?.focus();
  };
  return (
    <div class="examples" role="group" aria-label="Examples for the simulated agent">
      <p class="muted">
        The simulated agent needs no API key and no network. It understands a few commands. Choose one to fill
        in:
      </p>
      <ul>
        {EXAMPLES.map(({ words, does }) => (
          <li key={words}>
            <button class="btn small" type="button" onClick={() => write(words)}>
              {words}
            </button>{" "}
            <span class="faint">{does}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
