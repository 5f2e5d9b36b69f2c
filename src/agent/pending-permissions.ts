import type { Entry } from "#log/entry";
import { fieldsOf } from "#log/json/json-fields";
import type { Conversation } from "#conversation/conversation";
import { eachEntry } from "#conversation/read-log";
import type { PermissionAsked } from "#turn/host";

/** The questions of the open turn that nobody has answered, or had answered when this entry was written. */
export async function readWaiting(
  conversation: Conversation,
  upToSeq: number | null = null,
): Promise<readonly PermissionAsked[]> {
  const { space, id } = conversation;
  const pending = new Map<string, PermissionAsked>();
  const [before, upTo] = upToSeq === null ? [{}, {}] : [{ after: upToSeq + 1 }, { upTo: upToSeq }];
  const starts = { conversation: id, limit: 1, newestFirst: true, types: ["turn_start"] } as const;
  const [start] = await space.read({ ...starts, ...before });
  const onEntry = (entry: Entry): void => {
    if (entry.type === "permission_answer") pending.delete(entry.request);
    else if (entry.type === "permission" && entry.request !== undefined) {
      const { tool, input = null } = fieldsOf(entry.data);
      const { request, call = "" } = entry;
      pending.set(request, { request, call, tool: typeof tool === "string" ? tool : "", input });
    }
  };
  const types = ["permission", "permission_answer"] as const;
  await eachEntry(space, id, { types, after: start?.seq ?? 0, ...upTo, onEntry });
  return [...pending.values()];
}
