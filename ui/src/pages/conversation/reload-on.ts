import { useEffect } from "preact/hooks";
import type { Entry } from "#log/entry";
import { live } from "../../data/live-stream.ts";
import type { Loaded } from "../../data/loaded.ts";
import { openedConversation } from "./opened-conversation.ts";

/** What a tab shows is asked for again when an entry of these types is written. */
export function useReloadOn(
  loaded: Loaded<unknown>,
  conversation: string,
  types: readonly Entry["type"][],
): void {
  const after = openedConversation(conversation)?.view.headSeq ?? null;
  useEffect(() => {
    if (after === null) return undefined;
    return live.watch(conversation, after, ({ type }) => types.includes(type) && loaded.reload());
  }, [conversation, after !== null]);
}
