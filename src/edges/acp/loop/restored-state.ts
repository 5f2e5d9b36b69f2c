import type { Restored } from "#agent/restore";
import type { Fields } from "#log/json/json-fields";
import type { RestoredState } from "#edges/acp/bridge-upstream";
import { readJson } from "#log/json/read-json";

/** What a host is told of a conversation that it opens; the messages themselves are shown as updates. */
export function restoredState(restored: Restored, isHeld: boolean): RestoredState {
  const { conversation: _, messages, ...state } = restored;
  const meta: Fields = { ...(readJson(JSON.stringify(state)) as Fields), messages: messages.length };
  const updates = restored.waiting.map(({ call }) => ({
    sessionUpdate: "tool_call_update",
    toolCallId: call,
    status: "pending",
    content: [{ type: "content", content: { type: "text", text: "Not run: it waits for an answer" } }],
  }));
  return { meta, updates, notice: noticeFor(restored, isHeld) };
}

function noticeFor({ openTurn, waiting, missing }: Restored, isHeld: boolean): RestoredState["notice"] {
  const lacks = missing.map(({ message }) => message).join("; ");
  if ((openTurn === null || isHeld) && lacks === "") return null;
  const meta: Fields = {
    event: "restored",
    openTurn: openTurn?.turn ?? null,
    waiting: waiting.map(({ request }) => request),
    missing: missing.map(({ kind, name }) => ({ kind, name })),
  };
  if (openTurn === null || isHeld)
    return {
      severity: "warning",
      title: "Not everything of this conversation is here",
      description: lacks,
      meta,
    };
  const what =
    waiting.length > 0 ? "It waits for an answer" : "It was cut off; what had been said and done is kept";
  return {
    severity: "warning",
    title: "The last turn has not ended",
    description: `${what}. Say /continue to go on with it, or send something else.${lacks === "" ? "" : ` ${lacks}`}`,
    meta,
  };
}
