import type { Entry } from "#log/entry";
import { fieldsOf } from "#log/json/json-fields";
import type { Conversation } from "#conversation/conversation";
import { eachEntry } from "#conversation/read-log";
import type { PermissionAsked } from "#turn/host";
import { spaceOf } from "#conversation/on-space";

/** The questions of the open turn that nobody has answered, or had answered when this entry was written. */
export async function readWaiting(
  conversation: Conversation,
  upToSeq: number | null = null,
): Promise<readonly PermissionAsked[]> {
  const pending = new Map<string, PermissionAsked>();
  const upTo = upToSeq === null ? {} : { upTo: upToSeq };
  const start = await conversation.latest(["turn_start"], upToSeq === null ? undefined : upToSeq + 1);
  const onEntry = (entry: Entry): void => {
    if (entry.type === "permission_answer") pending.delete(entry.request);
    else if (entry.type === "permission" && entry.request !== undefined) {
      const { tool, input = null } = fieldsOf(entry.data);
      const { request, call = "" } = entry;
      pending.set(request, { request, call, tool: typeof tool === "string" ? tool : "", input });
    }
  };
  const types = ["permission", "permission_answer"] as const;
  await eachEntry(spaceOf(conversation), conversation.id, {
    types,
    after: start?.seq ?? 0,
    ...upTo,
    onEntry,
  });
  return [...pending.values()];
}
