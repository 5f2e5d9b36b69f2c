import { expect } from "vitest";
import type { AgentOptions } from "#agent/agent-options";
import { isLogError } from "#log/errors";
import { counter, heard, type StepCase, TWO_ANSWERS } from "./step-rig.ts";

const TASK = { conversation: "c", prompt: "write to bob" } as const;

/** A promise, and how to keep it. */
const later = (): PromiseWithResolvers<void> => Promise.withResolvers<void>();

/** What is so when two attempts at one task live at the same time. */
export const ZOMBIE_CASES: readonly StepCase[] = [
  {
    name: "gives an attempt that lost its task in a model call the answer that is in the log, and adds nothing",
    scenario: 4,
    async run(rig) {
      const [asked, answer] = [later(), later()];
      const mail = counter("mail");
      const slow = await rig.process(
        [
          () => {
            asked.resolve();
            return { calls: [{ id: "m1", name: "mail", input: { to: "eve" } }], until: answer.promise };
          },
        ],
        { tools: [mail] },
      );
      const quick = await rig.process(TWO_ANSWERS, { tools: [mail], on: await rig.store() });
      const task = await rig.lane.spawn(TASK);
      const zombie = rig.lane.attempt(slow.send);
      await asked.promise;
      await rig.lane.lapse(task);
      await rig.lane.attempt(quick.send);
      const [log, stored] = [await rig.log(), await rig.lane.stored(task)];
      answer.resolve();
      await zombie.catch(() => undefined);
      // Its key is in the log: the winner's words are what the zombie gets, and its own are dropped (scenario 7).
      expect(slow.model.asked).toHaveLength(1);
      expect(slow.thrown).toEqual([]);
      expect(quick.ends).toEqual(["completed"]);
      expect(await rig.log()).toEqual(log);
      expect(await rig.lane.stored(task)).toEqual(stored);
      expect(mail.runs).toEqual([{ to: "bob" }]);
    },
  },
  {
    name: "fences an attempt off that lost its task in a tool, and its result is nowhere",
    scenario: 4,
    async run(rig) {
      const [begun, done] = [later(), later()];
      const mail = counter("mail");
      const stuck = counter("mail", {
        run: async () => {
          begun.resolve();
          await done.promise;
          return "sent by the zombie";
        },
      });
      const slow = await rig.process(TWO_ANSWERS, { tools: [stuck] });
      const quick = await rig.process([{ text: "I do not know whether it was sent." }], {
        tools: [mail],
        on: await rig.store(),
      });
      const task = await rig.lane.spawn(TASK);
      const zombie = rig.lane.attempt(slow.send);
      await begun.promise;
      await rig.lane.lapse(task);
      await rig.lane.attempt(quick.send);
      const log = await rig.log();
      done.resolve();
      await zombie.catch(() => undefined);
      expect(slow.thrown).toEqual(["fenced"]);
      expect(quick.ends).toEqual(["completed"]);
      expect(mail.runs).toEqual([]); // it was begun, and nobody knows how it ended
      expect(await rig.log()).toEqual(log);
      expect((await rig.messages()).join()).not.toContain("by the zombie");
    },
  },
  {
    name: "fences an attempt of a cancelled task off though nobody has written since",
    scenario: 5,
    async run(rig) {
      const [asked, answer] = [later(), later()];
      const slow = await rig.process(
        [
          () => {
            asked.resolve();
            return { text: "too late", until: answer.promise };
          },
        ],
        { leaseMs: 0 },
      );
      const task = await rig.lane.spawn(TASK);
      const zombie = rig.lane.attempt(slow.send);
      await asked.promise;
      await rig.lane.cancel(task);
      const conversation = await rig.conversation();
      await using _idle = await conversation.own({ writer: "a new run", leaseMs: 60_000 });
      const log = await rig.log();
      answer.resolve();
      await zombie.catch(() => undefined);
      expect(slow.thrown).toEqual(["fenced"]);
      expect(await rig.log()).toEqual(log);
    },
  },
  {
    name: "writes one answer where two attempts come to the same step at once",
    scenario: 9,
    async run(rig) {
      const [first, second, both] = [later(), later(), later()];
      const at = (here: PromiseWithResolvers<void>, to: string) => () => {
        here.resolve();
        return { calls: [{ id: "m1", name: "mail", input: { to } }], until: both.promise };
      };
      const mail = counter("mail");
      const one = await rig.process([at(first, "one")], { tools: [mail] });
      const two = await rig.process([at(second, "two")], { tools: [mail], on: await rig.store() });
      const task = await rig.lane.spawn(TASK);
      const before = rig.lane.attempt(one.send);
      await first.promise;
      await rig.lane.lapse(task);
      const after = rig.lane.attempt(two.send);
      await second.promise;
      both.resolve();
      await Promise.allSettled([before, after]);
      expect(two.ends).toEqual(["completed"]);
      expect(mail.runs).toEqual([{ to: "two" }]);
      const answers = (await rig.messages()).filter((payload) => payload.includes('"toolUse"'));
      expect(answers).toHaveLength(1);
      expect(await (await rig.conversation()).issues()).toEqual([]);
    },
  },
  {
    name: "does not give a conversation back to an attempt that another has come after",
    async run(rig) {
      const [parked, again] = [later(), later()];
      const asks: Partial<AgentOptions> = { tools: [counter("mail")], permission: () => "ask" };
      const slow = await rig.process(TWO_ANSWERS, asks);
      const quick = await rig.process([{ text: "It is sent." }], { ...asks, on: await rig.store() });
      const task = await rig.lane.spawn(TASK);
      const zombie = rig.lane.attempt(async (steps, { conversation, prompt }) => {
        await heard(slow.ends, slow.agent.send(conversation, prompt, { steps }));
        parked.resolve();
        await again.promise;
        return heard(slow.ends, slow.agent.continue(conversation, { steps }));
      });
      await parked.promise;
      await rig.lane.lapse(task);
      const [question] = (await quick.agent.restore("c")).waiting;
      await (await rig.conversation()).answer(question?.request ?? "", "allowed");
      await rig.lane.attempt(async (steps, { conversation, prompt }) => {
        const sent = await quick.agent.send(conversation, prompt, { steps });
        // What the engine keeps says that it waited, and so does every replay.
        if (rig.lane.keeps) expect(sent.waiting).toEqual([question]);
        return heard(
          quick.ends,
          sent.outcome === "waiting" ? quick.agent.continue(conversation, { steps }) : Promise.resolve(sent),
        );
      });
      const log = await rig.log();
      again.resolve();
      await zombie.catch(() => undefined);
      expect(slow.ends).toEqual(["waiting", "fenced"]);
      expect(quick.ends).toEqual(["completed"]);
      expect(await rig.log()).toEqual(log);
    },
  },
  {
    name: "stops an attempt for the next one in the same process, which goes on at once",
    async run(rig) {
      const [asked, answer] = [later(), later()];
      const { agent, model, ends, thrown, send } = await rig.process([
        () => {
          asked.resolve();
          return { text: "too late", until: answer.promise };
        },
        { text: "It is sent." },
      ]);
      const task = await rig.lane.spawn(TASK);
      const zombie = rig.lane.attempt(send);
      await asked.promise;
      await expect(agent.send("c", "another's")).rejects.toSatisfy((error) => isLogError(error, "busy"));
      await rig.lane.lapse(task);
      await rig.lane.attempt(send);
      await zombie.catch(() => undefined);
      expect(thrown).toEqual(["fenced"]);
      expect(ends).toContain("completed");
      expect(model.asked).toHaveLength(2);
      expect((await rig.messages()).join()).not.toContain("too late");
    },
  },
];
