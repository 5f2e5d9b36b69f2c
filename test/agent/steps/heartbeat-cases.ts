import { expect } from "vitest";
import { counter, type StepCase, TWO_ANSWERS } from "./step-rig.ts";

const TASK = { conversation: "c", prompt: "write to bob" } as const;

/** What is so with an engine that is told that a step is at work. */
export const HEARTBEAT_CASES: readonly StepCase[] = [
  {
    name: "stops a model call once the engine has given the task to another, and writes nothing more",
    scenario: 15,
    needs: "beats",
    async run(rig) {
      const asked = Promise.withResolvers<void>();
      const never = new Promise<void>(() => undefined);
      const slow = await rig.process([
        () => {
          asked.resolve();
          return { text: "Hm.", until: never };
        },
      ]);
      const quick = await rig.process(TWO_ANSWERS, { tools: [counter("mail")], on: await rig.store() });
      const task = await rig.lane.spawn(TASK);
      const zombie = rig.lane.attempt(slow.send, 1);
      await asked.promise;
      await rig.lane.lapse(task);
      await rig.lane.attempt(quick.send);
      const log = await rig.log();
      await zombie; // nothing but the heartbeat ends it
      expect(slow.thrown).toEqual(["fenced"]);
      expect(quick.ends).toEqual(["completed"]);
      expect(await rig.log()).toEqual(log);
    },
  },
  {
    name: "stops a model call of a task that was cancelled, and leaves the turn to whoever comes next",
    scenario: 5,
    needs: "beats",
    async run(rig) {
      const asked = Promise.withResolvers<void>();
      const slow = await rig.process([
        () => {
          asked.resolve();
          return { text: "Hm.", until: new Promise<void>(() => undefined) };
        },
        { text: "It is sent." },
      ]);
      const task = await rig.lane.spawn(TASK);
      const zombie = rig.lane.attempt(slow.send, 1);
      await asked.promise;
      await rig.lane.cancel(task);
      await zombie;
      expect(slow.thrown).toEqual(["fenced"]);
      expect(await (await rig.conversation()).openTurn()).not.toBeNull();
      const { outcome, text } = await slow.agent.continue("c");
      expect([outcome, text]).toEqual(["completed", "It is sent."]);
    },
  },
  {
    name: "is heard of for as long as a model takes, longer than twice the lease",
    scenario: 16,
    needs: "beats",
    async run(rig) {
      const slow = await rig.process(
        [
          {
            calls: [{ id: "m1", name: "mail", input: {} }],
            until: new Promise((done) => setTimeout(done, 2_400)),
          },
        ],
        { tools: [counter("mail")] },
      );
      const task = await rig.lane.spawn(TASK);
      const carried = rig.lane.attempt(slow.send, 1);
      await carried;
      expect(slow.ends).toEqual(["completed"]);
      expect(await rig.lane.result(task)).toMatchObject({ outcome: "completed" });
    },
  },
];
