import type { Conversation } from "#conversation/conversation";
import { assistant, toolResult, user } from "#log/message";

/** A conversation in which there is something for every route. */
export async function fill(conversation: Conversation): Promise<void> {
  await conversation.append([
    { type: "run_start", run: "run-1", trigger: "email", mailbox: "in" },
    { ...user("Find the needle"), id: "m1" },
    { type: "turn_start", turn: "t1", prompt: "m1", run: "run-1" },
    { type: "upstream_link", upstream: "s1", agent: "sim", reason: "new" },
    { type: "attempt", turn: "t1", upstream: "s1", fidelity: "native" },
    {
      type: "message",
      id: "m2",
      message: {
        role: "assistant",
        content: [
          { type: "text", text: "Looking" },
          { type: "toolCall", id: "c1", name: "grep", input: { q: "needle" } },
        ],
        model: "x/y",
        usage: { inputTokens: 10, outputTokens: 5, costMicros: 70 },
      },
    },
    { type: "tool_intent", call: "c1", name: "grep", input: { q: "needle" } },
    { ...toolResult("c1", "found it"), id: "m3" },
    { ...assistant("Here it is"), id: "m4" },
    { type: "turn_end", turn: "t1", outcome: "completed", upstream: "s1", node: "m4" },
    { type: "run_end", run: "run-1", status: "completed" },
  ]);
}
