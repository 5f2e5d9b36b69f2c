/** Tools that Holdfast runs: their effect happens at most once, whatever dies in between. */
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { runEffects } from "#turn/effects/run-effects";
import type { Tool } from "#turn/effects/tool";
import { aConversation, assistant, contextOf } from "../../support/a-log.ts";
import { dyingClock } from "../../support/dying-clock.ts";

class Died extends Error {}

/** A tool whose effect is counted, and that may take the process with it before or after. */
function sendEmail(
  options: { replay?: "never" | "safe"; diesAfter?: boolean } = {},
): Tool & { sent: string[] } {
  const sent: string[] = [];
  const { replay } = options;
  return {
    name: "send_email",
    ...(replay === undefined ? {} : { replay }),
    sent,
    async run(input, { idempotencyKey }) {
      sent.push(idempotencyKey);
      if (options.diesAfter === true) await new Promise(() => undefined);
      return `sent ${JSON.stringify(input)}`;
    },
  };
}

async function run(
  chat: Conversation,
  ...calls: readonly (readonly [string, Tool])[]
): Promise<readonly { state: string }[]> {
  await using owner = await chat.own({ writer: "host", leaseMs: 60_000 });
  const given = {
    calls: calls.map(([id, tool]) => ({ id, tool, input: { to: "bob" } })),
    signal: new AbortController().signal,
  };
  return runEffects(owner, "t1", given);
}

/** Starts a call and dies inside the tool: the intent is in the log, no outcome ever comes. */
async function dieInside(chat: Conversation, tool: Tool & { sent: string[] }): Promise<void> {
  const clock = dyingClock();
  const owner = await chat.own({ writer: "host", leaseMs: 60_000, clock });
  const started = Promise.withResolvers<void>();
  const dying: Tool = { ...tool, run: (input, call) => (started.resolve(), tool.run(input, call)) };
  void runEffects(owner, "t1", {
    calls: [{ id: "c1", tool: dying, input: { to: "bob" } }],
    signal: new AbortController().signal,
  });
  await started.promise;
  clock.die();
}

test("an effect is run once, its intent before it and its outcome after it, and a retry gives the stored outcome", async () => {
  const chat = await aConversation(assistant("", "m1", "c1"));
  const tool = sendEmail();
  expect(await run(chat, ["c1", tool])).toMatchObject([{ state: "done", ran: true }]);
  expect(await run(chat, ["c1", tool])).toMatchObject([
    { state: "done", ran: false, output: 'sent {"to":"bob"}' },
  ]);
  expect(tool.sent).toEqual(["effect/t1/c1"]);
  const types = (await Array.fromAsync(chat.log())).map((entry) => entry.type);
  expect(types).toEqual(["conversation", "message", "tool_intent", "message"]);
});

test("a tool that was started and never ended has an unknown outcome and is not started again", async () => {
  const chat = await aConversation(assistant("", "m1", "c1"));
  const tool = sendEmail({ diesAfter: true });
  await dieInside(chat, tool);
  expect(await run(chat, ["c1", sendEmail()])).toEqual([{ state: "unknown" }]);
  expect(tool.sent).toHaveLength(1);
  expect((await chat.effects()).map((effect) => effect.state)).toEqual(["unknown"]);
});

test("a tool that is safe in the record and in the code is run again with the same key, up to a cap that no crash resets", async () => {
  const chat = await aConversation(assistant("", "m1", "c1"));
  const safe = sendEmail({ replay: "safe", diesAfter: true });
  for (let crash = 0; crash < 5; crash++) {
    if (crash < 3) await dieInside(chat, safe);
    else expect(await run(chat, ["c1", sendEmail({ replay: "safe" })])).toEqual([{ state: "unknown" }]);
  }
  expect(safe.sent).toEqual(["effect/t1/c1", "effect/t1/c1", "effect/t1/c1"]);
});

test("a tool that was safe when it started and is not any more is not run again", async () => {
  const chat = await aConversation(assistant("", "m1", "c1"));
  await dieInside(chat, sendEmail({ replay: "safe", diesAfter: true }));
  const now = sendEmail({ replay: "never" });
  expect(await run(chat, ["c1", now])).toEqual([{ state: "unknown" }]);
  expect(now.sent).toEqual([]);
});

test("calls side by side keep what finished: only the lost one is unknown, in the order of the calls", async () => {
  const chat = await aConversation(assistant("", "m1", "c1", "c2", "c3"));
  await run(chat, ["c3", sendEmail()], ["c1", sendEmail()]);
  const lines = await contextOf(chat);
  expect(lines.map((line) => line.split("@")[1] ?? "call")).toEqual(["call", "c1", "c2", "c3"]);
  expect(lines[2]).toContain("Outcome unknown");
  expect((await chat.effects()).map((effect) => effect.state)).toEqual(["done", "not_started", "done"]);
});

test("a tool that throws has failed, which is an outcome like any other", async () => {
  const chat = await aConversation(assistant("", "m1", "c1"));
  const broken: Tool = { name: "send_email", run: () => Promise.reject(new Died("no route")) };
  expect(await run(chat, ["c1", broken])).toMatchObject([{ state: "failed", output: "no route" }]);
  expect(await run(chat, ["c1", broken])).toMatchObject([{ state: "failed", ran: false }]);
});
