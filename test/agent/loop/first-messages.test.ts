/** What services refuse for good: a request that begins with the assistant, and prompts that say nothing. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { assistant, user } from "#log/message";
import type { PromptContent } from "#turn/accept";
import { type ModelServer, startModelServer } from "../../support/model-server.ts";
import { agentRig, said } from "../rig.ts";
import { WIRES, wireAgent } from "../wire-rig.ts";

let server: ModelServer;
beforeAll(async () => void (server = await startModelServer()));
afterAll(() => server.close());

test.each(WIRES)(
  "a conversation that the assistant started is answered over the wire of %s",
  async (wire) => {
    const { agent, holdfast } = wireAgent(server, wire);
    const chat = await holdfast.create({ id: "c" });
    await agent.addMessage(chat, "assistant", "Welcome! What may I do?");
    server.add({ text: "Hello." }, { text: "Once more." });
    expect(await agent.send(chat, "hi")).toMatchObject({ outcome: "completed", text: "Hello." });
    expect(await agent.send(chat, "and again")).toMatchObject({ outcome: "completed", text: "Once more." });
    // What stands before it is of the request, not of the log.
    expect((await said(chat))[0]).toBe("assistant: Welcome! What may I do?");
  },
);

test.each(WIRES)("what a model cannot be shown is no first message over the wire of %s", async (wire) => {
  const { agent, holdfast } = wireAgent(server, wire);
  const chat = await holdfast.create({ id: "c" });
  await chat.append([user([{ type: "vendor/odd", text: "for another model" }]), assistant("Welcome!")]);
  server.add({ text: "Hello." });
  expect(await agent.send(chat, "hi")).toMatchObject({ outcome: "completed", text: "Hello." });
});

const EMPTY: readonly [PromptContent][] = [[""], [" \n\t"], [[]], [[{ type: "text", text: " " }]]];

test.each(EMPTY)("the empty prompt %j is refused, and nothing is written", async (prompt) => {
  const at = await agentRig([]);
  const { headSeq } = await at.conversation.head();
  const refused = expect.objectContaining({ code: "invalid_request" }) as Error;
  await expect(at.agent.send("c", prompt)).rejects.toThrow(refused);
  await expect(at.agent.steer("c", prompt)).rejects.toThrow(refused);
  expect((await at.conversation.head()).headSeq).toBe(headSeq);
  expect(at.model.asked).toEqual([]);
});
