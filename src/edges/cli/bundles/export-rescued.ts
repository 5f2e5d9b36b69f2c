import type { Conversation } from "#conversation/conversation";
import { isLogError } from "#log/errors";
import { parseSpaceId } from "#log/ids";
import { type Call, remark } from "#edges/cli/command";
import { salvagedText } from "#edges/cli/bundles/salvaged-text";

/** The conversation, or where its log cannot be read whole a copy in memory of what can, under the same id. */
export async function soundOrRescued(call: Call, conversation: Conversation): Promise<Conversation> {
  try {
    await conversation.head();
    return conversation;
  } catch (error) {
    const { logRescue, openHoldfast } = await import("#open");
    const rescue = isLogError(error, "damaged") ? logRescue(call.store) : null;
    if (rescue === null || !isLogError(error)) throw error;
    const { id } = conversation;
    const copy = await openHoldfast({ store: "memory:", space: call.space });
    const rest = await rescue.copyInto(copy.space, parseSpaceId(call.space), id);
    await remark(call, [error.message, ...salvagedText(rest)].join("\n"));
    return copy.conversation(id);
  }
}
