/** The state that is stored is the one that follows from the results, at every message of every branch. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { stateAfter } from "#agent/agent-options";
import type { Conversation } from "#conversation/conversation";
import type { ToolResultMessage } from "#log/message";
import { fieldsOf, wordsIn } from "#log/json/json-fields";
import type { Tool } from "#turn/effects/tool";
import { agentRig } from "../rig.ts";

/** Sets a member, takes it away, or fails; some calls take a little longer than others. */
const set: Tool = {
  name: "set",
  async run(input) {
    const { key, value = null, fails, later } = fieldsOf(input);
    for (let n = 0; n < Number(later); n++) await new Promise((resolve) => setImmediate(resolve));
    if (fails === true) throw new Error("refused");
    return { content: "ok", state: { [wordsIn(key ?? null)]: value } };
  },
};

const calls = fc.record({
  key: fc.constantFrom("a", "b", "c", "__proto__"),
  value: fc.option(fc.integer({ min: 0, max: 3 })),
  fails: fc.boolean(),
  later: fc.nat({ max: 2 }),
});
const turns = fc.array(
  fc.record({
    on: fc.nat(),
    steps: fc.array(fc.array(calls, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
    stops: fc.constantFrom("no", "after a step", "at a question"),
    forkAt: fc.nat(),
  }),
  { minLength: 1, maxLength: 4 },
);

async function expectDerived(chat: Conversation): Promise<void> {
  const results: ToolResultMessage[] = [];
  for (const entry of await chat.branch()) {
    if (entry.type !== "message") continue;
    if (entry.message.role === "toolResult") results.push(entry.message);
    const { state } = await (await chat.fork({ at: entry.id })).settings();
    expect(state).toEqual(stateAfter(null, results));
  }
  expect((await chat.settings()).state).toEqual(stateAfter(null, results));
}

test("derived equals applied, in turns that stop and are taken up, and in forks at any message", () =>
  fc.assert(
    fc.asyncProperty(turns, async (given) => {
      const at = await agentRig([], { tools: [set] });
      const chats: Conversation[] = [at.conversation];
      for (const { on, steps, stops, forkAt } of given) {
        const chat = chats[on % chats.length] ?? at.conversation;
        const script = steps.map((step, n) => ({
          calls: step.map((input, m) => ({ id: `${n}${m}`, name: "set", input })),
        }));
        if (stops === "no") await at.another([...script, { text: "ok" }]).agent.send(chat.id, "go");
        else {
          const asks = stops === "at a question" ? { permission: (): "ask" => "ask" } : {};
          const stopped = await at
            .another(script, asks)
            .agent.send(chat.id, "go", stops === "at a question" ? {} : { maxSteps: 1 });
          expect(stopped.outcome).toBe(stops === "at a question" ? "waiting" : "interrupted");
          const rest = at.another([...script.slice(1), { text: "ok" }]);
          expect(await rest.agent.continue(chat.id)).toMatchObject({ outcome: "completed" });
        }
        const messages = (await chat.branch()).filter(({ type }) => type === "message");
        const target = messages[forkAt % messages.length];
        chats.push(await chat.fork(target === undefined ? {} : { at: target.id }));
      }
      for (const chat of chats) await expectDerived(chat);
    }),
    { numRuns: 25 },
  ));
