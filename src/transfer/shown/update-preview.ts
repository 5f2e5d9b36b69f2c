import type { EntryOf } from "#log/entry";
import { recordedEvents } from "#turn/rules/attempt-record";
import type { TurnEvent } from "#turn/rules/turn-event";

/** What an agent said while it worked, in one line. */
export function updatePreview(entry: EntryOf<"update">): string {
  // Anyone may write an update: one that is not the runtime's is shown as it is.
  const events = recordedEvents(entry);
  return events === null ? entry.payload : events.map((event) => eventPreview(event)).join(" · ");
}

function eventPreview(event: TurnEvent): string {
  switch (event.type) {
    case "text":
      return event.text;
    case "thinking":
      return `(thinking) ${event.text}`;
    case "tool":
      return `▸ ${event.name} ${event.state}${event.output === undefined ? "" : `: ${event.output}`}`;
    case "waiting":
      return `(waiting) ${event.text}`;
    case "final_text":
      return "";
    default:
      return JSON.stringify(event);
  }
}

/** A person's answer, or what they were asked. */
export function permissionPreview(entry: EntryOf<"permission">): string {
  const data = (entry.data ?? {}) as {
    readonly outcome?: { readonly outcome?: unknown; readonly optionId?: unknown };
    readonly toolCall?: { readonly title?: unknown };
  };
  const { outcome, toolCall } = data;
  if (typeof outcome?.outcome === "string")
    return `answered: ${typeof outcome.optionId === "string" ? outcome.optionId : outcome.outcome}`;
  return typeof toolCall?.title === "string" ? `asked: ${toolCall.title}` : entry.payload;
}
