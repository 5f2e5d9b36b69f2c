import type { EntryBody, EntryOf } from "#log/entry";
import type { Usage } from "#log/message";
import { type Fields, fieldsOf, listIn } from "#log/json/json-fields";
import type { TurnEvent } from "./turn-event.ts";

interface EndedAttempt {
  readonly turn: string;
  readonly class: string;
  readonly upstream: string | null;
  readonly model: string | null;
  readonly usage: Usage | null;
}

/** What is written of an attempt that left no message for its usage to stand on; nothing where it used nothing. */
export function attemptEnd({ turn, upstream, model, usage, ...outcome }: EndedAttempt): readonly EntryBody[] {
  if (usage === null) return [];
  const carrier = upstream === null ? {} : { upstream };
  return [
    {
      type: "attempt_end",
      turn,
      class: outcome.class,
      ...carrier,
      ...(model === null ? {} : { model }),
      usage,
    },
  ];
}

/** What format 1 called the events it stored. An import keeps their text, so a batch of any version may have them. */
const FORMER_NAMES: { readonly [type: string]: string } = { told: "other", kept: "final_text" };

/** The events of an update that the runtime wrote; null for one that somebody else did. */
export function recordedEvents({ data }: EntryOf<"update">): readonly TurnEvent[] | null {
  const { events } = fieldsOf(data);
  if (!Array.isArray(events)) return null;
  return listIn(events).map((event) => currentEvent(event) as unknown as TurnEvent);
}

function currentEvent(event: Fields): Fields {
  const { type, remark, ...rest } = event;
  const name = typeof type === "string" && Object.hasOwn(FORMER_NAMES, type) ? FORMER_NAMES[type] : undefined;
  if (name === undefined && remark === undefined) return event;
  const adapterText = remark === undefined ? {} : { adapterText: remark };
  return { ...rest, ...adapterText, type: name ?? type ?? null };
}
