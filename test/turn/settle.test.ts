/** A turn whose steps write their messages as they come: what is left of it when its process dies. */
import { expect, test } from "vitest";
import { assistant, toolResult, user } from "#log/message";
import type { EntryBody } from "#log/entry";
import { Holdfast } from "#conversation/holdfast";
import { inMemoryStore } from "#stores/in-memory/index";
import { settleOpenTurn } from "#turn/settle";

const update = (text: string): EntryBody => ({
  type: "update",
  turn: "t",
  data: { events: [{ type: "text", text }] },
});

async function settled(bodies: readonly EntryBody[], moved?: string) {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const conversation = await holdfast.create();
  await conversation.append([
    { ...user("go"), id: "prompt" },
    { type: "turn_start", turn: "t", prompt: "prompt" },
  ]);
  for (const body of bodies) await conversation.append(body);
  if (moved !== undefined) await conversation.goTo(moved);
  const owner = await conversation.own({ writer: "next", leaseMs: 1_000 });
  const facts = await conversation.facts(["turn_start", "attempt", "turn_end"]);
  await settleOpenTurn({ conversation, owner, newId: () => holdfast.newId() }, facts);
  await owner[Symbol.asyncDispose]();
  const { messages } = await conversation.context();
  const [end] = await conversation.facts(["turn_end"]);
  const said = messages.map(
    ({ role, content }) =>
      `${role}: ${content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("")}`,
  );
  return { conversation, said, end };
}

const attempt: EntryBody = { type: "attempt", turn: "t", model: "sim/a" };
const call = { type: "toolCall", id: "c", name: "look", input: {} } as const;

test("what a step has written stands for what was streamed of it: no stray copy beside it", async () => {
  const { said, end } = await settled([
    attempt,
    update("Let me "),
    update("look."),
    { ...assistant([{ type: "text", text: "Let me look." }, call]), id: "answer" },
    { ...toolResult("c", "nothing"), id: "result" },
  ]);
  expect(said).toEqual(["user: go", "assistant: Let me look.[toolCall]", "toolResult: nothing"]);
  expect(end).toMatchObject({ outcome: "interrupted", class: "crashed", node: "result" });
});

test("what the next step had streamed follows the messages of the one before it", async () => {
  const { said } = await settled([
    attempt,
    update("Let me look."),
    { ...assistant([{ type: "text", text: "Let me look." }, call]), id: "answer" },
    { ...toolResult("c", "nothing"), id: "result" },
    attempt,
    update("There is no"),
  ]);
  expect(said.at(-1)).toBe("assistant: There is no");
  expect(said).toHaveLength(4);
});

test("someone who has moved on finds the leaf where they left it, and the rest of the turn under its own messages", async () => {
  const { conversation, said } = await settled(
    [
      attempt,
      { ...assistant([call]), id: "answer" },
      { ...toolResult("c", "x"), id: "result" },
      attempt,
      update("So"),
    ],
    "prompt",
  );
  expect(said).toEqual(["user: go"]);
  const rest = (await conversation.facts(["message"])).at(-1);
  expect(rest).toMatchObject({ parentId: "result", message: { stopReason: "interrupted" } });
});

test("a turn that waited for a person was left, not cut off; its question is closed", async () => {
  const { conversation, end } = await settled([
    attempt,
    { ...assistant([call]), id: "answer" },
    { type: "permission", request: "t/1/c", call: "c", turn: "t" },
  ]);
  expect(end).toMatchObject({ class: "cancelled" });
  expect(await conversation.facts(["permission_answer"])).toMatchObject([
    { request: "t/1/c", outcome: "cancelled" },
  ]);
});

test("a question that was answered is not answered again", async () => {
  const { conversation, end } = await settled([
    attempt,
    { type: "permission", request: "t/1/c", call: "c", turn: "t" },
    { type: "permission_answer", request: "t/1/c", outcome: "allowed" },
  ]);
  expect(end).toMatchObject({ class: "crashed" });
  expect(await conversation.facts(["permission_answer"])).toHaveLength(1);
});
