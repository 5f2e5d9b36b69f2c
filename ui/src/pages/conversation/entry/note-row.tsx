import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import type { Entry } from "#log/entry";
import { carrierTone } from "../../../parts/marks/carrier.tsx";
import { Clock } from "../../../parts/shown-time.tsx";

/** What a setting or another node of the branch says, on one line. */
function wordsFor(entry: Entry): string {
  switch (entry.type) {
    case "conversation":
      return entry.origin === undefined
        ? "The conversation began"
        : `Forked from ${entry.origin.conversation}@${entry.origin.entry}; what is above is shared`;
    case "model_change":
      return `From here on: the model ${safeLine(entry.model)}`;
    case "reset":
      return "New chat: nothing above reaches a model any more";
    case "branch_summary":
      return `Of the branch that was left: ${safeLine(entry.summary.slice(0, 400))}`;
    case "seed":
      return `A run began with ${entry.messages.length} messages of its own`;
    case "skill_change":
      return `Skills: ${entry.skills.map(({ name }) => safeLine(name)).join(", ") || "none"}`;
    case "custom":
      return `${safeLine(entry.customType)}, kept by a program`;
    default:
      return entry.type.replaceAll("_", " ");
  }
}

export function NoteRow({
  entry,
  carrier,
  isSent,
  isSelected,
}: {
  readonly entry: Entry;
  readonly carrier: number | null;
  readonly isSent: boolean;
  readonly isSelected: boolean;
}): JSX.Element {
  return (
    <div
      class={`entry is-note${isSelected ? " is-selected" : ""}`}
      data-entry={entry.id}
      data-up={carrier === null ? undefined : carrierTone(carrier)}
      data-sent={isSent ? undefined : "no"}
    >
      <span class="seq">{entry.seq}</span>
      <span class="rail">
        <span class="node tool" />
      </span>
      <div class="body">
        <div class="ribbon park">
          <span>{wordsFor(entry)}</span>
          <span class="line" />
          <span class="when">
            <Clock time={entry.time} />
          </span>
        </div>
      </div>
    </div>
  );
}
