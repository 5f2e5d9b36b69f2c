import { expect } from "vitest";
import { parsePointer, type TurnPointer } from "#agent/steps/turn-pointer";
import type { Json } from "#log/json/json-text";
import { user } from "#log/message";
import { counter, type StepCase, type StepRig, TWO_ANSWERS } from "./step-rig.ts";

const TASK = { conversation: "c", prompt: "write to bob" } as const;

/** The store as it was before the task, and an attempt that got through every step and then failed. */
async function tornStore(rig: StepRig): Promise<{ readonly task: string; readonly last: TurnPointer }> {
  await rig.copy("restored.db");
  const { agent } = await rig.process(TWO_ANSWERS, { tools: [counter("mail")] });
  const task = await rig.lane.spawn(TASK);
  await rig.lane.attempt(async (steps, { conversation, prompt }) => {
    await agent.send(conversation, prompt, { steps });
    throw new Error("the task fails behind its turn");
  });
  await rig.lane.lapse(task);
  const [name = "", value = ""] = [...(await rig.lane.stored(task))].at(-1) ?? [];
  return { task, last: parsePointer(JSON.parse(value) as Json, name) };
}

/** An attempt on the restored store; what it says, and that it wrote nothing. */
async function attemptOnRestored(rig: StepRig): Promise<string> {
  const on = await rig.store("restored.db");
  const conversation = await on.conversation("c");
  const log = await Array.fromAsync(conversation.log());
  const { model, send, ends } = await rig.process(TWO_ANSWERS, { tools: [counter("mail")], on });
  await rig.lane.attempt(send);
  expect(model.asked).toHaveLength(0);
  expect(await Array.fromAsync(conversation.log())).toEqual(log);
  return ends.join();
}

/** What is so when the store is not the one that the engine's pointers were made in. */
export const STORE_CASES: readonly StepCase[] = [
  {
    name: "refuses a store that ends before what the engine points at",
    scenario: 11,
    needs: "keeps",
    async run(rig) {
      await tornStore(rig);
      expect(await attemptOnRestored(rig)).toBe("diverged");
    },
  },
  {
    name: "refuses a store whose entries have other ids where the engine points",
    scenario: 12,
    needs: "keeps",
    async run(rig) {
      const { last } = await tornStore(rig);
      const conversation = await (await rig.store("restored.db")).conversation("c");
      for (let seq = 2; seq <= last.toSeq; seq++) await conversation.append(user(`other words ${seq}`));
      expect(await attemptOnRestored(rig)).toBe("diverged");
    },
  },
  {
    name: "refuses a store with the same last entry behind other words",
    scenario: 12,
    needs: "keeps",
    async run(rig) {
      const { task } = await tornStore(rig);
      const [first = ["", ""]] = [...(await rig.lane.stored(task))];
      const { toSeq, lastId } = parsePointer(JSON.parse(first[1]) as Json, first[0]);
      const conversation = await (await rig.store("restored.db")).conversation("c");
      for (let seq = 2; seq < toSeq; seq++) await conversation.append(user(`other words ${seq}`));
      await conversation.append({ ...user("the same entry"), id: lastId });
      expect(await attemptOnRestored(rig)).toBe("diverged");
    },
  },
  {
    name: "refuses a pointer of a later version, and a result that is no pointer",
    scenario: 23,
    needs: "keeps",
    async run(rig) {
      const { task, last } = await tornStore(rig);
      const log = await rig.log();
      const { model, send, ends } = await rig.process(TWO_ANSWERS);
      for (const value of [{ ...last, v: 2 }, { messages: [] }, last] as const) {
        await rig.lane.replace(task, "turn:v1/c/2", value);
        await rig.lane.attempt(send);
        await rig.lane.lapse(task);
      }
      expect(ends).toEqual(["unsupported_version", "invalid_request", "completed"]);
      expect(model.asked).toHaveLength(0);
      expect(await rig.log()).toEqual(log);
    },
  },
  {
    name: "makes the same pointer again from the log where the engine has lost its own",
    scenario: 21,
    needs: "keeps",
    async run(rig) {
      const mail = counter("mail");
      const { agent, model } = await rig.process(TWO_ANSWERS, { tools: [mail] });
      const task = await rig.lane.spawn(TASK);
      const pointers: Json[][] = [];
      // The engine of the second attempt keeps nothing: each pointer is made from what is in the log under its key.
      for (const forgets of [false, true]) {
        await rig.lane.attempt(async (steps, { conversation, prompt }) => {
          const seen: Json[] = [];
          pointers.push(seen);
          const step: typeof steps.step = async (name, body) => {
            const at = { stepKey: name, heartbeat: async () => {}, signal: new AbortController().signal };
            const value = await (forgets ? body(at) : steps.step(name, body));
            seen.push(value);
            return value;
          };
          await agent.send(conversation, prompt, { steps: { ...steps, step } });
          throw new Error("the task fails behind its turn");
        });
        await rig.lane.lapse(task);
      }
      expect(pointers[1]).toEqual(pointers[0]);
      expect(model.asked).toHaveLength(2);
      expect(mail.runs).toHaveLength(1);
    },
  },
  {
    name: "keeps whatever a model or a tool says, byte for byte as without an engine",
    scenario: 17,
    async run(rig) {
      const nested = `${"[".repeat(400)}"\u0000 \uD800 ${"]".repeat(400)}`;
      const outputs = ["\u0000", "\uD800 alone", "1e400", nested, "x".repeat(20_000_000)];
      const script = [
        {
          text: "\u0000 and 12345678901234567890",
          calls: outputs.map((_, at) => ({
            id: `t${at}`,
            name: "echo",
            input: { at, deep: [[[["\uDFFF"]]]] },
          })),
        },
        { text: "1e400" },
      ];
      const echo = counter("echo", {
        effect: "none",
        run: async (input) => outputs[Number(Object(input).at)] ?? "",
      });
      const how = { tools: [echo], parallelCalls: 1 };
      const { send } = await rig.process(script, how);
      await rig.lane.spawn(TASK);
      await rig.lane.attempt(send);
      const plain = await rig.process(script, how);
      await (await rig.store()).create({ id: "plain" });
      await plain.agent.send("plain", TASK.prompt);
      expect(await rig.messages("c")).toEqual(await rig.messages("plain"));
      expect(await rig.messages("c")).toHaveLength(8);
    },
  },
];
