/** A turn that is cut off after far more than was ever said in one: nothing of it is forgotten. */
import { expect, test } from "vitest";
import type { EntryBody } from "#log/entry";
import { aRig } from "./rig.ts";

const UPDATES = 12_000;
const EMAIL = { type: "tool", call: "c1", name: "send_email", input: { to: "bob" } } as const;

test("a tool that ended after ten thousand updates of a turn that was cut off is in the reply and in the ledger", async () => {
  const rig = await aRig();
  const chat = await rig.holdfast.conversation("c");
  const said = (...events: readonly object[]): EntryBody => ({
    type: "update",
    turn: "t1",
    data: { events: events as never },
  });
  await chat.append([
    { type: "message", id: "p1", message: { role: "user", content: [{ type: "text", text: "go" }] } },
    { type: "turn_start", turn: "t1", prompt: "p1" },
    { type: "upstream_link", upstream: "gone", agent: "claude", reason: "first" },
    { type: "attempt", turn: "t1", upstream: "gone" },
  ]);
  for (let at = 0; at < UPDATES; at += 1_000)
    await chat.append(
      Array.from({ length: 1_000 }, (_, n) => said({ type: "text", text: `${at + n} ` })),
      { durability: "relaxed" },
    );
  await chat.append([
    said({ ...EMAIL, state: "started" }),
    { type: "tool_intent", call: "c1", name: "send_email", input: EMAIL.input, turn: "t1" },
    said({ ...EMAIL, state: "done", output: "sent" }),
  ]);
  await rig.send("and now?");
  expect(await chat.effects()).toMatchObject([{ call: "c1", state: "done" }]);
  const [, reply, result] = await rig.of("message");
  expect(reply?.message.content).toMatchObject([
    { text: Array.from({ length: UPDATES }, (_, n) => `${n} `).join("") },
    { type: "toolCall", id: "c1" },
  ]);
  expect(result?.message).toMatchObject({ role: "toolResult", toolCallId: "c1" });
});
