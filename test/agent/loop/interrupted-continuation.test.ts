/** A turn that goes on with another one's words, and is left as well. */
import { expect, test } from "vitest";
import { agentRig, counter } from "../rig.ts";

test("a call that was not started is run also where the turn that went on with it was left as well", async () => {
  const look = counter("look");
  const at = await agentRig([{ text: "seen" }], { tools: [look] });
  await at.conversation.append([
    { type: "message", id: "p", message: { role: "user", content: [{ type: "text", text: "go" }] } },
    { type: "turn_start", turn: "t1", prompt: "p" },
    { type: "attempt", turn: "t1", model: "one" },
    {
      type: "message",
      message: { role: "assistant", content: [{ type: "toolCall", id: "1", name: "look", input: {} }] },
    },
    { type: "turn_end", turn: "t1", outcome: "interrupted", class: "cancelled" },
    { type: "turn_start", turn: "t2", prompt: "p" },
  ]);
  expect(await at.agent.continue("c")).toMatchObject({ turn: "t2", outcome: "completed", text: "seen" });
  expect(look.runs).toEqual([{}]);
  const intents = await at.conversation.facts(["tool_intent"]);
  expect(intents).toMatchObject([{ turn: "t1", step: 1, call: "1" }]);
});

test("whoever has moved the branch since goes on with nothing by mistake", async () => {
  const at = await agentRig([]);
  await at.conversation.append([
    { type: "message", id: "p", message: { role: "user", content: [{ type: "text", text: "go" }] } },
    { type: "turn_start", turn: "t1", prompt: "p" },
    { type: "message", id: "a", message: { role: "assistant", content: [{ type: "text", text: "half" }] } },
    { type: "turn_end", turn: "t1", outcome: "interrupted", class: "cancelled", node: "a" },
    { type: "message", id: "q", message: { role: "user", content: [{ type: "text", text: "else" }] } },
    { type: "turn_start", turn: "t2", prompt: "q" },
    { type: "leaf", target: "a" },
  ]);
  await expect(at.agent.continue("c")).rejects.toMatchObject({ code: "invalid_request" });
  expect(at.model.asked).toEqual([]);
});
