import { readsAsWritten, entryLine } from "#log/codec";
import type { Entry, StoredEntry } from "#log/entry";
import type { ConversationId } from "#log/ids";
import { type Member, membersOf, objectText } from "#log/json/json-text";
import type { ExactContext } from "#log/projections/context";
import type { SentContext } from "#log/projections/sent-context";
import type { ContextMessage } from "#log/projections/pairs";
import type { ExactRun } from "#conversation/hydrate"; /** Stands in every JSON answer that programs read; counted up when one of them changes other than by addition. */
export const SCHEMA_VERSION = 1;

const MESSAGE_MEMBERS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "toolCallId",
  "toolName",
  "isError",
]);

/** A context as one JSON object in which every message, config and state stands as the text it was given in. */
export function contextText(
  conversation: ConversationId,
  context: ExactContext & { readonly given?: SentContext | null },
  more: { readonly [name: string]: unknown } = {},
): string {
  return objectText([
    { name: "schemaVersion", text: String(SCHEMA_VERSION) },
    { name: "conversation", text: JSON.stringify(conversation) },
    ...contextMembers(context),
    ...(context.given ? [{ name: "given", text: JSON.stringify(context.given) }] : []),
    ...Object.entries(more).map(([name, value]) => ({ name, text: JSON.stringify(value) })),
  ]);
}

/** What a context says, member by member. */
function contextMembers(context: ExactContext): readonly Member[] {
  const { config_change: config, skill_change: skills, state_change: state } = context.settings;
  const storedText = (stored: StoredEntry | undefined, member: string, value: unknown): string =>
    memberText(stored, member) ?? JSON.stringify(value);
  const messages = context.messages.map((message) =>
    messageText(message, message.entryId === null ? undefined : context.entries.get(message.entryId)),
  );
  return [
    { name: "leaf", text: JSON.stringify(context.leaf) },
    { name: "model", text: JSON.stringify(context.model) },
    { name: "messages", text: `[${messages.join(",")}]` },
    { name: "config", text: storedText(config, "config", context.config) },
    // Whether skills and state still hold after a reset is the projection's word; only their text is taken from the log.
    {
      name: "skills",
      text: context.skills.length === 0 ? "[]" : storedText(skills, "skills", context.skills),
    },
    { name: "state", text: context.state === null ? "null" : storedText(state, "state", context.state) },
    { name: "compaction", text: JSON.stringify(context.compaction) },
    { name: "issues", text: JSON.stringify(context.issues) },
  ];
}

/** A member of an entry's payload as it was written; undefined when only the parsed value is the current version's. */
function memberText(stored: StoredEntry | undefined, name: string): string | undefined {
  if (stored === undefined || !readsAsWritten(stored.v)) return undefined;
  return membersOf(stored.payload).findLast((member) => member.name === name)?.text;
}

function messageText(message: ContextMessage, stored: Entry | undefined): string {
  const text = stored?.type === "message" ? memberText(stored, "message") : undefined;
  if (text !== undefined) {
    const members = membersOf(text);
    const visible = lastOfEach(members.filter(({ name }) => MESSAGE_MEMBERS.has(name)));
    return visible.length === members.length ? text : objectText(visible);
  }
  const content =
    (stored?.type === "custom" ? memberText(stored, "content") : undefined) ??
    JSON.stringify(message.content);
  const { role, toolCallId, toolName, isError } = message;
  const extras = Object.entries({ toolCallId, toolName, isError }).filter(([, value]) => value !== undefined);
  return objectText([
    { name: "role", text: JSON.stringify(role) },
    ...extras.map(([name, value]) => ({ name, text: JSON.stringify(value) })),
    { name: "content", text: content },
  ]);
}

/** A member given twice means its last value, to every reader of JSON. */
function lastOfEach(members: readonly Member[]): readonly Member[] {
  return members.filter(
    (member, index) => members.findLastIndex(({ name }) => name === member.name) === index,
  );
}

/** A run that was hydrated as one JSON object in which all that was given stands as the text it was given in. */
export function hydratedText(hydrated: ExactRun): string {
  const { run, seeds, messages, context, state, totals, exact } = hydrated;
  const seed = exact.seed === null ? undefined : memberText(exact.seed, "messages");
  const members = contextMembers({ ...context, settings: exact.settings, entries: exact.entries() });
  const system: Member = { name: "system", text: JSON.stringify(context.system) };
  return objectText([
    { name: "schemaVersion", text: String(SCHEMA_VERSION) },
    { name: "run", text: JSON.stringify(run) },
    { name: "seeds", text: seed ?? JSON.stringify(seeds) },
    { name: "messages", text: `[${messages.map((message) => entryLine(message)).join(",")}]` },
    { name: "context", text: objectText([system, ...members]) },
    {
      name: "state",
      text: members.find(({ name }) => name === "state")?.text ?? JSON.stringify(state),
    },
    { name: "totals", text: JSON.stringify(totals) },
  ]);
}
