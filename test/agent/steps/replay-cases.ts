import { expect } from "vitest";
import { parsePointer } from "#agent/steps/turn-pointer";
import type { Restored } from "#agent/restore";
import type { Conversation } from "#conversation/conversation";
import type { Json } from "#log/json/json-text";
import { inShort } from "../rig.ts";
import { counter, heard, plain, type StepCase, TWO_ANSWERS } from "./step-rig.ts";

const TASK = { conversation: "c", prompt: "write to bob" } as const;
const MEMBERS = [
  "executedLocalToolCount",
  "finishReason",
  "fromSeq",
  "lastId",
  "link",
  "toSeq",
  "usage",
  "v",
];

/** What is so when a task is tried again. */
export const REPLAY_CASES: readonly StepCase[] = [
  {
    name: "says and does the same as a turn without an engine",
    async run(rig) {
      const runs: Json[] = [];
      const mail = counter("mail", {
        run: async (input) => {
          runs.push(input);
          return { content: "sent", state: { lastMail: input } };
        },
      });
      const { send } = await rig.process(TWO_ANSWERS, { tools: [mail] });
      const task = await rig.lane.spawn(TASK);
      await rig.lane.attempt(send);
      expect(runs).toEqual([{ to: "bob" }]);
      const direct = await rig.process(TWO_ANSWERS, { tools: [mail] });
      const first = await rig.conversation();
      const other = await (await rig.store()).create({ id: "plain" });
      const result = await direct.agent.send("plain", TASK.prompt);
      expect(await rig.messages("c")).toEqual(await rig.messages("plain"));
      const unlike = { turn: "", prompt: "", run: "" };
      expect({ ...Object(await rig.lane.result(task)), ...unlike }).toEqual({
        ...Object(plain(result)),
        ...unlike,
      });
      expect(await first.usage()).toEqual(await other.usage());
      expect(await first.openTurn()).toBeNull();
      const [ours, theirs] = [await direct.agent.restore("c"), await direct.agent.restore("plain")];
      expect(ours.state).toEqual({ lastMail: { to: "bob" } });
      const named = ({ messages, ...rest }: Restored): unknown => ({
        ...rest,
        messages: messages.map(inShort),
        conversation: "",
        leaf: "",
      });
      expect(named(ours)).toEqual(named(theirs));
    },
  },
  {
    name: "keeps a pointer per answer in the engine, and no word of the log",
    needs: "keeps",
    async run(rig) {
      const { send } = await rig.process(TWO_ANSWERS, { tools: [counter("mail")] });
      const task = await rig.lane.spawn(TASK);
      await rig.lane.attempt(send);
      const stored = await rig.lane.stored(task);
      expect([...stored.keys()]).toEqual(["turn:v1/c/1", "turn:v1/c/2"]);
      const pointers = [...stored].map(([name, value]) => {
        const pointer = JSON.parse(value) as Json;
        expect(Object.keys(Object(pointer)).toSorted()).toEqual(MEMBERS);
        return parsePointer(pointer, name);
      });
      expect([...stored.values()].join()).not.toMatch(/bob|Writing|sent/);
      expect(pointers.map(({ finishReason }) => finishReason)).toEqual(["toolUse", "endTurn"]);
      expect(pointers.map(({ executedLocalToolCount }) => executedLocalToolCount)).toEqual([0, 1]);
      expect(pointers.map(({ usage }) => usage["inputTokens"])).toEqual([100, 100]);
      const log = await rig.log();
      for (const { toSeq, lastId } of pointers) expect(log[toSeq - 1]?.id).toBe(lastId);
      expect(pointers[1]?.fromSeq).toBe((pointers[0]?.toSeq ?? 0) + 1);
    },
  },
  {
    name: "counts what a step used once, however often the steps are replayed",
    scenario: 10,
    async run(rig) {
      const mail = counter("mail");
      const { model, agent } = await rig.process(TWO_ANSWERS, { tools: [mail] });
      const task = await rig.lane.spawn(TASK);
      const results: Json[] = [];
      const seen: unknown[] = [];
      for (let replay = 0; replay < 6; replay++) {
        await rig.lane.attempt(async (steps, { conversation, prompt }) => {
          results.push(plain(await agent.send(conversation, prompt, { steps })));
          if (replay < 5) throw new Error("the task fails behind its turn");
          return null;
        });
        seen.push([await (await rig.conversation()).usage(), (await rig.log()).length]);
        await rig.lane.lapse(task);
      }
      expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1);
      expect(new Set(results.map((one) => JSON.stringify(one))).size).toBe(1);
      expect(model.asked).toHaveLength(2);
      expect(mail.runs).toHaveLength(1);
    },
  },
  {
    name: "finds what was written though the store's reply was lost, and does not ask again",
    scenario: 6,
    async run(rig) {
      let lost = 0;
      const on = await rig.store("log.db", {
        verbs: (space) => ({
          append: async (request) => {
            const written = await space.append(request);
            if (request.key?.endsWith("turn:v1/c/1") === true && lost++ === 0)
              throw new Error("connection lost");
            return written;
          },
        }),
      });
      const mail = counter("mail");
      const { model, send, ends } = await rig.process(TWO_ANSWERS, { tools: [mail], on });
      const task = await rig.lane.spawn(TASK);
      await rig.lane.attempt(send);
      expect(lost).toBe(1);
      await rig.lane.lapse(task);
      await rig.lane.attempt(send);
      expect(ends).toEqual(["error", "completed"]);
      expect(model.asked).toHaveLength(2);
      expect(mail.runs).toHaveLength(1);
      const messages = (await (await rig.conversation()).context()).messages.map(inShort);
      expect(messages).toHaveLength(4);
    },
  },
  {
    name: "goes on with what is stored under a step's key, and drops what it had made itself",
    scenario: 7,
    async run(rig) {
      const mail = counter("mail");
      let met = 0;
      const on = await rig.store("log.db", {
        verbs: (space) => ({
          append: async (request) => {
            // Another was quicker, with other words: they are under the key when this one comes.
            if (request.key?.endsWith("turn:v1/c/1") === true && met++ === 0) {
              const drafts = request.drafts.map((one) => ({
                ...one,
                draft: { ...one.draft, payload: one.draft.payload.replace("bob", "eve") },
              }));
              await space.append({ ...request, drafts, digest: "other words" });
            }
            return space.append(request);
          },
        }),
      });
      const { send, ends } = await rig.process(TWO_ANSWERS, { tools: [mail], on });
      await rig.lane.spawn(TASK);
      await rig.lane.attempt(send);
      expect(ends).toEqual(["completed"]);
      expect(mail.runs).toEqual([{ to: "eve" }]);
      expect(await rig.messages()).toHaveLength(4);
    },
  },
  {
    name: "leaves a fork that is made in the middle of a step with what was there, and nothing that came later",
    scenario: 19,
    async run(rig) {
      const forks: Conversation[] = [];
      const conversation = await rig.conversation();
      const mail = counter("mail", {
        run: async () => {
          const wanted = Array.from({ length: 8 }, () => conversation.fork());
          const titles = wanted.map((_, at) => conversation.title(`title ${at}`));
          forks.push(...(await Promise.all(wanted)));
          await Promise.all(titles);
          return "sent";
        },
      });
      const { send } = await rig.process(TWO_ANSWERS, { tools: [mail] });
      await rig.lane.spawn(TASK);
      await rig.lane.attempt(send);
      const whole = (await conversation.branch()).map(({ id }) => id);
      for (const fork of forks) {
        const shared = (await fork.branch()).map(({ id }) => id);
        expect(shared).toEqual(whole.slice(0, shared.length));
        expect((await fork.context()).messages.slice(0, 2).map(inShort)).toEqual([
          "user: write to bob",
          'assistant: Writing. mail({"to":"bob"})',
        ]);
        expect(shared.length).toBeLessThan(whole.length);
      }
      expect(forks).toHaveLength(8);
    },
  },
  {
    name: "goes on with what a task of before has begun, and tells what became of it, by the trigger's key",
    scenario: 22,
    async run(rig) {
      const { model, agent } = await rig.process(TWO_ANSWERS, { tools: [counter("mail")] });
      const ends: string[] = [];
      const attempt =
        (key?: string) =>
        (steps: never, { conversation, prompt }: typeof TASK) =>
          heard(ends, agent.send(conversation, prompt, { steps, ...(key === undefined ? {} : { key }) }));
      const before = await rig.lane.spawn(TASK, "mail-17");
      await rig.lane.attempt(attempt("mail-17") as never);
      expect(await rig.lane.spawn(TASK, "mail-17")).toBe(before);
      await rig.lane.forget(before);
      const after = await rig.lane.spawn(TASK, "mail-17");
      expect(after).not.toBe(before);
      const entries = (await rig.log()).length;
      await rig.lane.attempt(attempt("mail-17") as never);
      const known = Object(await rig.lane.result(after));
      expect(known).toMatchObject({
        outcome: "completed",
        text: "It is sent.",
        repeated: { differs: false },
      });
      expect(await rig.log()).toHaveLength(entries);
      expect(model.asked).toHaveLength(2);
      // Without it, another task is another turn: no key of the one before is in its way.
      await rig.lane.spawn(TASK);
      await rig.lane.attempt(attempt() as never);
      expect(model.asked).toHaveLength(3);
      expect(ends).toEqual(["completed", "completed", "completed"]);
    },
  },
];
