import type { Bodies } from "./entry.ts";
import type { MessageExtras } from "./message.ts";
import { fieldsIn } from "./json/json-fields.ts";
import type { Json } from "./json/json-text.ts";

/**
 * What is kept with a message and never sent to a model. Its home is the message. Bodies in the manner of format 1 have it
 * beside the message; they are still accepted, and their text stays as it came, so readers ask here.
 * Where both places say something, the message's members count before the others.
 */
export function detailsOf(entry: Bodies["message"]): Json | undefined {
  const { details } = entry.message;
  const beside = besideMessage(entry).details;
  const own = fieldsIn(details);
  return details === undefined || own === null ? (details ?? beside) : { ...fieldsIn(beside), ...own };
}

/** Kept in the log and sent to the model, but not part of what people read; of either home. */
export function isInternal(entry: Bodies["message"]): boolean {
  return entry.message.internal === true || besideMessage(entry).internal === true;
}

function besideMessage(entry: Bodies["message"]): MessageExtras {
  return entry as MessageExtras;
}
