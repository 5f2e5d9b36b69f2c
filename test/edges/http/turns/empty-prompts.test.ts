import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { ScriptedModel } from "../../../agent/scripted-model.ts";
import { serve } from "../served.ts";

test.each([[""], [" \n"], [[]], [[{ type: "text", text: "" } as const]]])(
  "the empty prompt %j is refused, as a prompt and as an edit, and nothing is written or moved",
  async (content) => {
    const model = new ScriptedModel([{ text: "Hello." }]);
    await using served = await serve({
      agents: { loop: { open: (holdfast) => new Agent(holdfast, { model, instructions: false }) } },
    });
    const conversation = await served.holdfast.create({ id: "c" });
    const client = served.client(await served.token("write"));
    const turn = await client.send({ conversation: "c", content: "hi" });
    for await (const _ of client.turnEvents(turn));
    const before = await conversation.head();
    const refused = expect.objectContaining({ code: "invalid_request" }) as Error;
    await expect(client.send({ conversation: "c", content })).rejects.toThrow(refused);
    await expect(client.edit({ conversation: "c", entry: turn.prompt, content })).rejects.toThrow(refused);
    expect(await conversation.head()).toEqual(before);
    expect(model.asked).toHaveLength(1);
  },
);
