import type { EntryType } from "#log/entry";
import { LogError } from "#log/errors";
import { fieldsOf } from "#log/json/json-fields";
import { itemsOf, type Json, membersOf } from "#log/json/json-text";
import { type Grant, mayDo } from "#edges/http/access/grant";

/**
 * What turns believe of the machine they run on: folders, processes to be ended, sessions to be resumed. Whoever could write
 * that could make a server act in its own name where a token does not reach.
 */
const OF_THE_HOST: { readonly [type in EntryType]?: string } = {
  conversation: "use createConversation to create a conversation",
  cwd: "the server sets the folder of a conversation",
  config_change: "settings refer to folders and sessions of the server's agents",
  skill_change: "use the skill operations",
  upstream_link: "the server's agents manage their sessions",
  upstream_end: "the server's agents manage their sessions",
  memory: "use the memory operations",
};

/** The entries of a body, each as the exact text it was sent in; `values` are the same, parsed. */
export function entryTexts(
  bodyText: string,
  values: readonly object[],
  grant: Pick<Grant, "rights">,
): readonly string[] {
  const member = membersOf(bodyText).findLast(({ name }) => name === "entries");
  const texts = member === undefined ? [] : itemsOf(member.text);
  if (!mayDo(grant, "admin")) for (const [index, value] of values.entries()) checkEntry(value as Json, index);
  return texts;
}

function checkEntry(entry: Json, index: number): void {
  const { type, process } = fieldsOf(entry);
  const why =
    typeof type === "string" && Object.hasOwn(OF_THE_HOST, type)
      ? OF_THE_HOST[type as EntryType]
      : process === undefined
        ? undefined
        : "the server records which process runs a turn";
  if (why !== undefined)
    throw new LogError("invalid_entry", `Entry ${index} requires admin permission: ${why}`, {
      index,
    });
}
