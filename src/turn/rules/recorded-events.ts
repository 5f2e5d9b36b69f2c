import type { EntryOf } from "#log/entry";
import { type Fields, fieldsOf, listIn } from "#log/json/json-fields";
import type { UpstreamEvent } from "./turn-record.ts";

/** What format 1 called the events it stored. An import keeps their text, so a batch of any version may have them. */
const FORMER_NAMES: { readonly [type: string]: string } = { told: "other", kept: "final_text" };

/** The events of an update that the runtime wrote; null for one that somebody else did. */
export function recordedEvents({ data }: EntryOf<"update">): readonly UpstreamEvent[] | null {
  const { events } = fieldsOf(data);
  if (!Array.isArray(events)) return null;
  return listIn(events).map((event) => currentEvent(event) as unknown as UpstreamEvent);
}

function currentEvent(event: Fields): Fields {
  const { type, remark, ...rest } = event;
  const name = typeof type === "string" && Object.hasOwn(FORMER_NAMES, type) ? FORMER_NAMES[type] : undefined;
  if (name === undefined && remark === undefined) return event;
  const adapterText = remark === undefined ? {} : { adapterText: remark };
  return { ...rest, ...adapterText, type: name ?? type ?? null };
}
