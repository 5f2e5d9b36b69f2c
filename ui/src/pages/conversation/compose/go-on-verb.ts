import { lastRow, type ThreadState } from "../thread/thread-state.ts";

export type Verb = "continueTurn" | "retry";

/** How a turn that did not finish is gone on with: what came back is continued, a prompt of which nothing did is sent again. */
export function goOnVerb(state: ThreadState): Verb {
  const { live } = state;
  const last = lastRow(state)?.entry;
  const isPrompt = last?.type === "message" && last.message.role === "user";
  return isPrompt && live.words === "" && live.calls.length === 0 ? "retry" : "continueTurn";
}
