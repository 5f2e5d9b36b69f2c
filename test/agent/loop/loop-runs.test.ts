/** Every prompt of the loop belongs to a run: it starts and ends in the batches of its turns, and its row counts them. */
import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { Holdfast } from "#conversation/holdfast";
import type { Run } from "#log/runs/run-row";
import { runsOf } from "#log/runs/run-folder";
import { decodeEntry } from "#log/codec";
import type { Conversation } from "#conversation/conversation";
import type { SpaceStore } from "#store/facets";
import { inMemoryStore } from "#stores/in-memory/index";
import { stillClock } from "../../support/still-clock.ts";
import { agentRig, counter, said } from "../rig.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { spaceOf } from "#conversation/on-space";

const call = (id: string, name: string) => ({ id, name, input: {} });
const never = new Promise<never>(() => undefined);
const refused = Object.assign(new Error("no money"), { statusCode: 402 });

/** The rows of a conversation, which are those that its log gives. */
async function rowsOf(conversation: Conversation): Promise<readonly Run[]> {
  const rows = await conversation.runs();
  const log = (await Array.fromAsync(conversation.log())).map((stored) => decodeEntry(stored));
  expect(rows).toEqual(runsOf(conversation.id, log));
  return rows;
}

const short = ({ status, error, steps, prompts, usage }: Run): unknown => [
  status,
  error?.code ?? null,
  steps,
  prompts,
  usage.outputTokens,
];

test("a prompt starts a run that a chat has triggered, with its model and tools, and ends it with its turn", async () => {
  const at = await agentRig([{ calls: [call("1", "look")] }, { text: "Seen." }], {
    tools: [counter("look")],
  });
  const result = await at.agent.send("c", "go");
  const [run] = await rowsOf(at.conversation);
  expect(run).toMatchObject({ run: result.run, trigger: { type: "chat", id: null }, model: "scripted/one" });
  expect(run).toMatchObject({ tools: ["look"], continues: null, seed: null, seedCount: 0 });
  expect(run && short(run)).toEqual(["completed", null, 2, 1, 20]);
  const ends = await spaceOf(at.conversation).batchEnds({ conversation: "c", after: 0, limit: 99 });
  const log = await Array.fromAsync(at.conversation.log());
  const batchOf = (type: string): number | undefined =>
    ends.find(({ seq }) => seq >= (log.find((entry) => entry.type === type)?.seq ?? 0))?.seq;
  expect(batchOf("run_start")).toBe(batchOf("turn_start"));
  expect(batchOf("run_end")).toBe(batchOf("turn_end"));
});

test("its start and its end cost no call of the store", async () => {
  const calls: string[] = [];
  const store = inMemoryStore();
  const counted = (inner: SpaceStore): SpaceStore =>
    new Proxy(inner, {
      get(target, name, receiver) {
        if (typeof name === "string") calls.push(name);
        return Reflect.get(target, name, receiver) as unknown;
      },
    });
  const holdfast = new Holdfast({ ...store, space: (id) => counted(store.space(id)) }, "default");
  await holdfast.create({ id: "c" });
  const options = { model: new ScriptedModel([]), instructions: false, clock: stillClock } as const;
  await using agent = new Agent(holdfast, options);
  await agent.send("c", "go");
  calls.length = 0;
  await agent.send("c", "go");
  // The three are the prompt, the attempt, and the answer; the others take it, look for words, and let go.
  expect([calls.length, calls.filter((verb) => verb === "append").length]).toEqual([6, 3]);
});

test("going on with a turn that failed is the same run; what every attempt cost is counted once", async () => {
  const at = await agentRig([{ error: refused }]);
  expect(await at.agent.send("c", "go")).toMatchObject({ outcome: "failed" });
  const [failed] = await rowsOf(at.conversation);
  expect(failed?.status).toBe("failed");
  expect(failed?.error).toMatchObject({ message: expect.stringContaining("no money") });
  const again = at.another([{ calls: [call("1", "look")] }, { error: refused }], {
    tools: [counter("look")],
  });
  await again.agent.continue("c");
  const { agent } = at.another([{ text: "At last." }], { tools: [counter("look")] });
  expect(await agent.continue("c")).toMatchObject({ outcome: "completed", run: failed?.run });
  const [run, ...others] = await rowsOf(at.conversation);
  expect([others, run && short(run)]).toEqual([[], ["completed", null, 2, 1, 20]]);
});

test("a run that was cancelled failed as such", async () => {
  const at = await agentRig([{ text: "a long story", until: never }]);
  const begun = Promise.withResolvers<void>();
  const turn = at.agent.send("c", "go", { onEvent: (event) => event.type === "update" && begun.resolve() });
  await begun.promise;
  at.agent.cancel("c");
  await turn;
  const [run] = await rowsOf(at.conversation);
  expect(run && short(run)).toEqual(["failed", "cancelled", 1, 1, 0]);
});

test("while a person is asked a run goes on, and the answer ends it", async () => {
  const options = { tools: [counter("mail")], permission: (): "ask" => "ask" };
  const at = await agentRig([{ calls: [call("1", "mail")] }, { text: "Sent." }], options);
  const { waiting } = await at.agent.send("c", "go");
  expect((await rowsOf(at.conversation)).map(short)).toEqual([["running", null, 1, 1, 10]]);
  await at.agent.answer("c", waiting[0]?.request ?? "", "allowed");
  expect((await rowsOf(at.conversation)).map(short)).toEqual([["completed", null, 2, 1, 20]]);
});

test("a prompt after a turn that waits, or was left, ends the run of that turn first", async () => {
  const options = { tools: [counter("mail")], permission: (): "ask" => "ask" };
  const at = await agentRig([{ calls: [call("1", "mail")] }], options);
  await at.agent.send("c", "go");
  await at.agent.send("c", "never mind");
  await at.conversation.append([
    { type: "run_start", run: "r", trigger: "chat" },
    { type: "message", id: "p", message: { role: "user", content: [{ type: "text", text: "left" }] } },
    { type: "turn_start", turn: "t", prompt: "p", run: "r" },
  ]);
  await at.agent.send("c", "again");
  const rows = await rowsOf(at.conversation);
  expect(rows.map((run) => [run.status, run.error?.code ?? null])).toEqual([
    ["failed", "cancelled"],
    ["completed", null],
    ["failed", "crashed"],
    ["completed", null],
  ]);
});

test("what is said into a turn, and what waits for its end, stays in its run", async () => {
  const at = await agentRig(
    [{ calls: [call("1", "look")] }, { text: "one" }, { text: "two" }, { text: "three" }],
    {
      tools: [
        counter("look", {
          run: async () => {
            await at.agent.steer("c", "faster");
            await at.agent.steer("c", "and then this", { when: "turn" });
            await at.agent.steer("c", "with the next", { when: "run" });
            return "seen";
          },
        }),
      ],
    },
  );
  const { run } = await at.agent.send("c", "go");
  expect((await rowsOf(at.conversation)).map(short)).toEqual([["completed", null, 3, 3, 30]]);
  const next = await at.agent.send("c", "next");
  expect(next.run).not.toBe(run);
  expect((await said(at.conversation)).slice(-3)).toEqual([
    "user: with the next",
    "user: next",
    "assistant: three",
  ]);
  expect((await rowsOf(at.conversation)).map(short)).toEqual([
    ["completed", null, 3, 3, 30],
    ["completed", null, 1, 1, 10],
  ]);
});

test("a fork counts its own runs alone", async () => {
  const at = await agentRig([{ text: "one" }]);
  await at.agent.send("c", "first");
  const fork = await at.conversation.fork({ id: "f" });
  const before = await rowsOf(at.conversation);
  await at.agent.send(fork, "second");
  expect((await rowsOf(fork)).map(short)).toEqual([["completed", null, 1, 1, 10]]);
  expect(await rowsOf(at.conversation)).toEqual(before);
});

test("a turn of a log from before runs is gone on with as it is", async () => {
  const at = await agentRig([{ text: "done" }]);
  await at.conversation.append([
    { type: "message", id: "p", message: { role: "user", content: [{ type: "text", text: "left" }] } },
    { type: "turn_start", turn: "t", prompt: "p" },
  ]);
  expect(await at.agent.continue("c")).toMatchObject({ outcome: "completed", run: null });
  expect(await rowsOf(at.conversation)).toEqual([]);
});
