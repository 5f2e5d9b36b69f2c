import type { EntryBody } from "#log/entry";
import type { ConversationId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import { isPreamble } from "#upstream/rules/preamble";
import { appendElement } from "#edges/acp/wire/rewrite";
import type { Edit } from "#edges/acp/wire/splice";
import { agentCommand } from "./agent-option.ts";
import { agentNames, type BridgeParts } from "./bridge-parts.ts";
import type { ConversationSettings } from "./conversation-settings.ts";
import type { StoredTitle } from "./conversation-title.ts";
import { type Fields, fieldsOf } from "#log/json/json-fields";
import { type Message, readableAt, type Span, spanAt, stringAt } from "#edges/acp/wire/spans";

/** An update of an agent that the bridge keeps something of, or adds something to. */
interface ObservedUpdate {
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
function observedIn({ bytes, params, method }: Message): ObservedUpdate | null {
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

/** The conversation that an agent says something of. */
interface ObservedConversation {
  readonly id: ConversationId;
  readonly upstream: { readonly agent: string };
  readonly settings: ConversationSettings;
  readonly title: StoredTitle;
  setTitle(title: string): Promise<void>;
  agentOption(): Json | null;
}

/** Keeps what a line of an agent says of the conversation; gives what the bridge adds to it. */
export function observe(
  parts: BridgeParts,
  conversation: ObservedConversation,
  message: Message,
): readonly Edit[] {
  const observed = observedIn(message);
  if (observed === null) return [];
  keep(parts, conversation, observed);
  const { kind, edited } = observed;
  if (edited === null) return [];
  if (kind === "session_info_update") return titleEdits(conversation, message.bytes, edited);
  const own = kind === "config_option_update" ? conversation.agentOption() : agentCommand(agentNames(parts));
  return own === null ? [] : appendElement(message.bytes, edited, JSON.stringify(own));
}

/** Keeps what an agent says of its settings. */
function keep(
  { turns }: BridgeParts,
  { id, upstream, settings }: ObservedConversation,
  { kind, update }: ObservedUpdate,
): void {
  const { agent } = upstream;
  const { currentModeId: mode, configOptions = null, status } = update;
  if (kind === "current_mode_update" && typeof mode === "string")
    inBackground(settings.choose(agent, { mode }, null));
  if (kind === "config_option_update") {
    const { options, model } = settings.changedSince(agent, configOptions);
    if (Object.keys(options).length > 0) inBackground(settings.choose(agent, { options }, model));
  }
  if (kind === "compaction_update" && status === "completed")
    inBackground(turns.note(id, [compactionBody(agent, update)]));
}

/** The title an agent gives is kept, unless a person or a fork gave one, which the host is shown instead; a title made of our own words is replaced, too. */
function titleEdits(conversation: ObservedConversation, bytes: Uint8Array, span: Span): readonly Edit[] {
  const title = stringAt(bytes, span);
  if (title === null || title.trim() === "") return [];
  const { title: stored, given } = conversation.title;
  if (given || isPreamble(title)) return [{ span, text: JSON.stringify(stored) }];
  inBackground(conversation.setTitle(title));
  return [];
}

/** The agent shortened its own memory; ours is as long as it was, so this only tells. */
function compactionBody(agent: string, update: Fields): EntryBody {
  return { type: "custom", customType: "upstream_compaction", data: { agent, ...update } };
}

/** Nobody waits for it, and the next who reads the log sees what became of it. */
export function inBackground(work: Promise<void>): void {
  void work.catch(() => undefined);
}
