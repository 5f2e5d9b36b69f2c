import type { Context } from "#log/projections/context";
import type { Given } from "#log/projections/given";
import type { ContextMessage } from "#log/projections/pairs";
import { FORMAT_VERSION, type StoredEntry } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import { type Member, membersOf, objectText } from "#log/json/json-text";
import type { Place } from "#log/lineage/head";
import type { SpaceStore } from "#store/store";
import type { SettingType } from "#log/entry";
import { SCHEMA_VERSION } from "./schema-version.ts";

const PAGE_NODES = 1_024;
const MESSAGE_MEMBERS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "toolCallId",
  "toolName",
  "isError",
]);

/** A context as one JSON object in which every message, config and state stands as the text it was given in. */
export async function contextText(
  space: SpaceStore,
  conversation: ConversationId,
  context: Context & { readonly given?: Given | null },
): Promise<string> {
  const { place } = await space.entry(conversation, context.leaf);
  const at = { conversation, ...(place === null ? {} : { from: place }) };
  const stored = await readStored(
    space,
    at,
    new Set(context.messages.flatMap(({ entryId }) => entryId ?? [])),
  );
  const marks = await space.latest({ ...at, types: ["config_change", "skill_change", "state_change"] });
  const given = (type: SettingType, member: string, value: unknown): string =>
    memberText(marks.get(type), member) ?? JSON.stringify(value);
  const messages = context.messages.map((message) =>
    messageText(message, message.entryId === null ? undefined : stored.get(message.entryId)),
  );
  return objectText([
    { name: "schemaVersion", text: String(SCHEMA_VERSION) },
    { name: "conversation", text: JSON.stringify(conversation) },
    { name: "leaf", text: JSON.stringify(context.leaf) },
    { name: "model", text: JSON.stringify(context.model) },
    { name: "messages", text: `[${messages.join(",")}]` },
    { name: "config", text: given("config_change", "config", context.config) },
    // Whether skills and state still hold after a reset is the projection's word; only their text is taken from the log.
    {
      name: "skills",
      text: context.skills.length === 0 ? "[]" : given("skill_change", "skills", context.skills),
    },
    { name: "state", text: context.state === null ? "null" : given("state_change", "state", context.state) },
    { name: "compaction", text: JSON.stringify(context.compaction) },
    { name: "issues", text: JSON.stringify(context.issues) },
    ...(context.given ? [{ name: "given", text: JSON.stringify(context.given) }] : []),
  ]);
}

/** The stored entries behind a context, which lie on the branch at its newest end. */
async function readStored(
  space: SpaceStore,
  at: { readonly conversation: ConversationId; readonly from?: Place },
  wanted: Set<EntryId>,
): Promise<ReadonlyMap<EntryId, StoredEntry>> {
  const found = new Map<EntryId, StoredEntry>();
  let { from } = at;
  while (wanted.size > 0) {
    const page = await space.page({
      conversation: at.conversation,
      limit: PAGE_NODES,
      ...(from === undefined ? {} : { from }),
    });
    for (const entry of page.entries) if (wanted.delete(entry.id)) found.set(entry.id, entry);
    if (page.next === null) break;
    from = page.next;
  }
  return found;
}

/** A member of an entry's payload as it was written; undefined when only the parsed value is the current version's. */
function memberText(stored: StoredEntry | undefined, name: string): string | undefined {
  if (stored === undefined || stored.v !== FORMAT_VERSION) return undefined;
  return membersOf(stored.payload).findLast((member) => member.name === name)?.text;
}

function messageText(message: ContextMessage, stored: StoredEntry | undefined): string {
  const given = stored?.type === "message" ? memberText(stored, "message") : undefined;
  if (given !== undefined)
    return objectText(lastOfEach(membersOf(given).filter(({ name }) => MESSAGE_MEMBERS.has(name))));
  const content =
    (stored?.type === "custom" ? memberText(stored, "content") : undefined) ??
    JSON.stringify(message.content);
  const { role, toolCallId, toolName, isError } = message;
  const named = Object.entries({ toolCallId, toolName, isError }).filter(([, value]) => value !== undefined);
  return objectText([
    { name: "role", text: JSON.stringify(role) },
    ...named.map(([name, value]) => ({ name, text: JSON.stringify(value) })),
    { name: "content", text: content },
  ]);
}

/** A member given twice means its last value, to every reader of JSON. */
function lastOfEach(members: readonly Member[]): readonly Member[] {
  return members.filter(
    (member, index) => members.findLastIndex(({ name }) => name === member.name) === index,
  );
}
