/** Which call is which: by turn, step, id and input. Providers number their calls anew, in every turn or every answer. */
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { type EffectOutcome, runEffects } from "#turn/effects/run-effects";
import type { Tool } from "#turn/effects/tool";
import type { EntryBody } from "#log/entry";
import type { Json } from "#log/json/json-text";
import { aConversation, assistant, result } from "../../support/a-log.ts";

interface Mail extends Tool {
  readonly sent: string[];
}

function mail(options: { readonly replay?: "safe" } = {}): Mail {
  const sent: string[] = [];
  return {
    name: "send_email",
    ...options,
    sent,
    async run(input, { idempotencyKey }) {
      sent.push(idempotencyKey);
      return `sent ${JSON.stringify(input)}`;
    },
  };
}

async function run(
  chat: Conversation,
  tool: Tool,
  calls: readonly (readonly [string, Json])[],
  step?: number,
): Promise<readonly EffectOutcome[]> {
  await using owner = await chat.own({ writer: "host", leaseMs: 60_000 });
  const given = {
    calls: calls.map(([id, input]) => ({ id, tool, input })),
    signal: new AbortController().signal,
    ...(step === undefined ? {} : { step }),
  };
  return runEffects(owner, "t1", given);
}

test("another input under the id of an earlier call is another call, and each keeps its own outcome", async () => {
  const chat = await aConversation(assistant("", "m1", "call_0"));
  const tool = mail();
  await run(chat, tool, [["call_0", { to: "bob" }]]);
  await chat.append(assistant("", "m2", "call_0"));
  expect(await run(chat, tool, [["call_0", { to: "eve" }]])).toMatchObject([
    { state: "done", output: 'sent {"to":"eve"}', ran: true },
  ]);
  for (const to of ["bob", "eve"])
    expect(await run(chat, tool, [["call_0", { to }]])).toMatchObject([
      { state: "done", output: `sent {"to":"${to}"}`, ran: false },
    ]);
  expect(new Set(tool.sent).size).toBe(2);
  expect((await chat.effects()).map((effect) => effect.state)).toEqual(["done", "done"]);
});

test("the same id and input in another step is another call; the order of members makes no other input", async () => {
  const chat = await aConversation(assistant("", "m1", "call_0"));
  const tool = mail();
  await run(chat, tool, [["call_0", { to: "bob", about: "rent" }]], 1);
  await chat.append(assistant("", "m2", "call_0"));
  await run(chat, tool, [["call_0", { to: "bob", about: "rent" }]], 2);
  expect(await run(chat, tool, [["call_0", { about: "rent", to: "bob" }]], 2)).toMatchObject([
    { ran: false },
  ]);
  expect(tool.sent).toHaveLength(2);
  const intents = await chat.facts(["tool_intent"]);
  expect(intents.map((intent) => intent.type === "tool_intent" && intent.step)).toEqual([1, 2]);
});

test("a call that stands in a list twice runs once, and both are told how it ended", async () => {
  const chat = await aConversation(assistant("", "m1", "call_0"));
  const tool = mail();
  const outcomes = await run(chat, tool, [
    ["call_0", { to: "bob" }],
    ["call_0", { to: "bob" }],
  ]);
  expect(outcomes).toMatchObject([
    { state: "done", ran: true },
    { state: "done", ran: false },
  ]);
  expect(tool.sent).toHaveLength(1);
});

test("two calls of one list that share an id and are not the same are refused before anything runs", async () => {
  const chat = await aConversation(assistant("", "m1", "call_0"));
  const tool = mail();
  const calls = [
    ["call_0", { to: "bob" }],
    ["call_0", { to: "eve" }],
  ] as const;
  await expect(run(chat, tool, calls)).rejects.toMatchObject({ code: "invalid_request" });
  expect([tool.sent, await chat.effects()]).toMatchObject([[], [{ state: "unknown", intent: null }]]);
});

test("the same call asked for twice at the same time runs once", async () => {
  const chat = await aConversation(assistant("", "m1", "call_0"));
  const tool = mail();
  await using owner = await chat.own({ writer: "host", leaseMs: 60_000 });
  const given = {
    calls: [{ id: "call_0", tool, input: {} }],
    signal: new AbortController().signal,
  };
  await Promise.all([runEffects(owner, "t1", given), runEffects(owner, "t1", given)]);
  expect(tool.sent).toHaveLength(1);
});

test("an intent of an older log is known as before", async () => {
  const chat = await aConversation(assistant("", "m1", "c1"));
  await chat.append(
    { type: "tool_intent", call: "c1", name: "send_email", input: { to: "bob" }, turn: "t1" },
    { key: "effect/t1/c1/intent/1" },
  );
  const tool = mail();
  expect(await run(chat, tool, [["c1", { to: "bob" }]])).toEqual([{ state: "unknown" }]);
  expect(tool.sent).toEqual([]);
});

const intent = (turn: string, to: string): EntryBody => ({
  type: "tool_intent",
  call: "call_0",
  name: "tool",
  input: { to },
  replay: "never",
  turn,
});

test.each([
  [
    "the same id in two turns",
    [
      intent("t1", "a"),
      assistant("", "m1", "call_0"),
      result("call_0", "1"),
      intent("t2", "b"),
      assistant("", "m2", "call_0"),
      result("call_0", "2"),
    ],
    ["done m1", "done m2"],
  ],
  [
    "the same id twice in one turn",
    [
      intent("t1", "a"),
      intent("t1", "b"),
      assistant("", "m1", "call_0"),
      result("call_0", "1"),
      assistant("", "m2", "call_0"),
    ],
    ["done m1", "unknown m2"],
  ],
  [
    "a call that was begun twice",
    [assistant("", "m1", "call_0"), intent("t1", "a"), intent("t1", "a")],
    ["unknown m1"],
  ],
  [
    "a call that another turn begins while the first is unknown",
    [assistant("", "m1", "call_0"), intent("t1", "a"), intent("t2", "a")],
    ["unknown m1", "unknown null"],
  ],
] as const)("the ledger tells calls of one id apart: %s", async (_, bodies, states) => {
  const chat = await aConversation(...bodies);
  const effects = (await chat.effects()).map((effect) => `${effect.state} ${effect.calledBy}`);
  expect(effects).toEqual(states);
});
