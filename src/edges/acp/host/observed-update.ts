import { type Fields, fieldsOf } from "#log/json/json-fields";
import { type Message, readableAt, type Span, spanAt, stringAt } from "#edges/acp/wire/spans";

/** An update of an agent that the bridge keeps something of, or adds something to. */
export interface ObservedUpdate {
  readonly kind: keyof typeof EDITED;
  readonly update: Fields;
  /** The member that the bridge may change; null when the update has none. */
  readonly edited: Span | null;
}

/** The kinds that are looked at, with the member that may be changed on the way. */
const EDITED = {
  compaction_update: null,
  current_mode_update: null,
  config_option_update: "configOptions",
  session_info_update: "title",
  available_commands_update: "availableCommands",
} as const;

/** Null for any other message: it is not read beyond its kind. */
export function observedIn({ bytes, params, method }: Message): ObservedUpdate | null {
  if (method !== "session/update" || params === null) return null;
  const span = spanAt(bytes, params, ["update"]);
  const kind = span === null ? null : stringAt(bytes, spanAt(bytes, span, ["sessionUpdate"]));
  if (span === null || kind === null || !isObserved(kind)) return null;
  const member = EDITED[kind];
  const edited = member === null ? null : spanAt(bytes, span, [member]);
  return { kind, update: fieldsOf(readableAt(bytes, span)), edited };
}

function isObserved(kind: string): kind is keyof typeof EDITED {
  return Object.hasOwn(EDITED, kind);
}
