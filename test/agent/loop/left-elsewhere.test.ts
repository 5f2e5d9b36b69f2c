/** A loop goes on with a turn that an agent of another kind left. */
import { expect, test } from "vitest";
import { agentRig, counter, said } from "../rig.ts";

test("a call that an agent of another kind was at when it died is not run, and the model is told that nobody knows", async () => {
  const act = counter("act");
  const at = await agentRig([{ text: "I will check." }], { tools: [act] });
  const upstream = "s1";
  await at.conversation.append([
    { type: "message", id: "p1", message: { role: "user", content: [{ type: "text", text: "go" }] } },
    { type: "turn_start", turn: "t1", prompt: "p1" },
    { type: "upstream_link", upstream, agent: "claude", reason: "first" },
    { type: "attempt", turn: "t1", upstream, fidelity: "native", process: "1" },
    { type: "tool_intent", turn: "t1", call: "1", name: "act", input: {}, replay: "never" },
    {
      type: "message",
      id: "a1",
      message: {
        role: "assistant",
        content: [{ type: "toolCall", id: "1", name: "act", input: {} }],
        stopReason: "interrupted",
      },
    },
    { type: "turn_end", turn: "t1", outcome: "interrupted", class: "crashed", upstream, node: "a1" },
  ]);
  expect(await at.agent.continue("c")).toMatchObject({ outcome: "completed", text: "I will check." });
  expect(act.runs).toEqual([]);
  expect((await said(at.conversation)).join("\n")).not.toContain("act 1");
  expect(await at.conversation.effects()).toMatchObject([{ name: "act", state: "unknown" }]);
});
