import type { Conversation } from "#conversation/conversation";
import { parseConversationId } from "#log/ids";
import type { Asked } from "./asked.ts";

type OfOne = { readonly params: { readonly conversation: string }; readonly response: unknown };

/** The conversation that a request is about. The first read or write says whether it exists. */
export function conversationOf({
  holdfast,
  params,
}: Pick<Asked<OfOne>, "holdfast" | "params">): Conversation {
  return holdfast.handle(parseConversationId(params.conversation));
}
