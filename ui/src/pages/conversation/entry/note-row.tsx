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
        ? "Conversation started"
        : `Forked from ${entry.origin.conversation}@${entry.origin.entry}. Everything above is shared.`;
    case "model_change":
      return `Model changed to ${safeLine(entry.model)}`;
    case "reset":
      return "New chat: models no longer receive anything above";
    case "branch_summary":
      return `Summary of the previous branch: ${safeLine(entry.summary.slice(0, 400))}`;
    case "seed":
      return `A run started with ${entry.messages.length} input messages`;
    case "skill_change":
      return `Skills: ${entry.skills.map(({ name }) => safeLine(name)).join(", ") || "none"}`;
    case "custom":
      return `${safeLine(entry.customType)}, stored by a program`;
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
      data-testid={`note-${entry.type}`}
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
          <span class="when">{entry.type === "conversation" ? null : <Clock time={entry.time} />}</span>
        </div>
      </div>
    </div>
  );
}
