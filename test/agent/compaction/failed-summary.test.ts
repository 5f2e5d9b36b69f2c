import { describe, expect, test } from "vitest";
import { compactConversation } from "#agent/compaction/compact";
import { Holdfast } from "#conversation/holdfast";
import type { Conversation } from "#conversation/conversation";
import type { Store } from "#store/store";
import { assistant, contextOf, countingIdsAndTime, result, user } from "../../support/a-log.ts";
import { subjects } from "../../support/subjects.ts";
import {
  answered,
  base,
  CALLS,
  compactionsOf,
  failedCall,
  logOf,
  LONG,
  SUMMARY_USAGE,
  summaryModel,
  TALK,
} from "../../support/summary-models.ts";

describe.each(subjects)("over $name", (named) => {
  const begin = async (store: Store): Promise<Conversation> => {
    const conversation = await new Holdfast(store, "s", countingIdsAndTime()).create({ id: "c" });
    await conversation.append(TALK);
    return conversation;
  };

  test.each([
    ["cut off by its length", () => answered("## Goal\nhalf", { finish: "length" }), "length"],
    ["filtered", () => answered("## Goal\nx", { finish: "filtered" }), "filtered"],
    ["paused", () => answered("## Goal\nx", { finish: "paused" }), "unfinished"],
    ["empty", () => answered(""), "empty"],
    ["blank", () => answered(" \n "), "empty"],
    ["no summary at all", () => answered("I cannot help with that."), "shapeless"],
    ["longer than what it replaces", () => answered(`## Goal\n${LONG.repeat(9)}`), "longer"],
    ["overloaded", () => failedCall("overloaded"), "no_answer"],
    ["cancelled", () => failedCall("cancelled"), "no_answer"],
    [
      "a tool call",
      () => {
        const { answer } = answered("## Goal");
        const call = { type: "toolCall", id: "c", name: "shell", input: {} } as const;
        return {
          answer: { ...answer, content: [call], finish: "calls", usage: SUMMARY_USAGE },
          ending: null,
        };
      },
      "tool_call",
    ],
  ])("a summary that is %s changes nothing but the record of its cost", async (_, answer, problem) => {
    using subject = named.make();
    await using store = await subject.open(() => Date.now());
    const conversation = await begin(store);
    const [before, context] = [await logOf(conversation), await conversation.context()];
    const summarise = summaryModel(answer as () => ReturnType<typeof answered>);
    const done = await compactConversation(conversation, { ...base, summarise });
    expect(done).toMatchObject({ state: "failed", problem, usage: SUMMARY_USAGE });
    const after = await logOf(conversation);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.length).toBe(before.length + 1);
    expect(after.at(-1)).toContain("attempt_end");
    expect(await conversation.context()).toEqual(context);
    expect((await conversation.usage()).costMicros).toBe(5);
    // It is tried later, and works.
    const again = await compactConversation(conversation, { ...base, summarise: summaryModel() });
    expect(again).toMatchObject({ state: "compacted" });
  });

  test.each([
    ["throws", () => Promise.reject(new Error("broken pipe"))],
    ["gives garbage", () => Promise.resolve("## Goal")],
    ["gives nothing", () => Promise.resolve(undefined)],
    ["gives half an answer", () => Promise.resolve({ answer: {}, ending: null })],
  ])("a model that %s changes nothing", async (_, summarise) => {
    using subject = named.make();
    await using store = await subject.open(() => Date.now());
    const conversation = await begin(store);
    const before = await logOf(conversation);
    const done = await compactConversation(conversation, { ...base, summarise: summarise as never });
    expect(done).toMatchObject({ state: "failed", problem: "no_answer", usage: null });
    expect(await logOf(conversation)).toEqual(before);
  });

  test("what the first part used is recorded when the second fails", async () => {
    using subject = named.make();
    await using store = await subject.open(() => Date.now());
    const conversation = await new Holdfast(store, "s", countingIdsAndTime()).create({ id: "c" });
    await conversation.append(CALLS);
    const model = summaryModel((_, call) =>
      call === 1 ? answered("## Goal\nfine") : answered("half", { finish: "length" }),
    );
    const done = await compactConversation(conversation, { ...base, summarise: model, turn: "t7" });
    expect(done).toMatchObject({ state: "failed", problem: "length" });
    const [end] = await conversation.facts(["attempt_end"]);
    expect(end).toMatchObject({ turn: "t7", model: "sim/summary", usage: { costMicros: 10 } });
    expect(await compactionsOf(conversation)).toEqual([]);
  });

  test("scenario 12: a boundary off the path or on a tool result is refused, and nothing is written", async () => {
    using subject = named.make();
    await using store = await subject.open(() => Date.now());
    const conversation = await new Holdfast(store, "s", countingIdsAndTime()).create({ id: "c" });
    await conversation.append([
      user("x", "x"),
      assistant("", "a", "c1"),
      result("c1", "r", "r"),
      user("y", "y"),
    ]);
    await conversation.goTo("a");
    await conversation.append([result("c1", "r2", "r2"), user("z", "z")]);
    const before = await logOf(conversation);
    for (const firstKeptEntryId of ["y", "r", "r2"])
      await expect(
        conversation.append({ type: "compaction", summary: "S", firstKeptEntryId }),
      ).rejects.toMatchObject({ code: "invalid_boundary" });
    expect(await logOf(conversation)).toEqual(before);
  });

  test("an owner writes it inside its turn; others are told that the conversation is busy, before a model is asked", async () => {
    using subject = named.make();
    await using store = await subject.open(() => Date.now());
    const conversation = await begin(store);
    await using owner = await conversation.own({ writer: "w", leaseMs: 60_000 });
    const model = summaryModel();
    await expect(compactConversation(conversation, { ...base, summarise: model })).rejects.toMatchObject({
      code: "busy",
    });
    expect(model.asked).toEqual([]);
    const done = await compactConversation(conversation, { ...base, summarise: model, owner, turn: "t" });
    expect(done).toMatchObject({ state: "compacted" });
    await owner.append(user("and on"));
    expect((await contextOf(conversation)).length).toBe(3);
  });

  test("a conversation that went on meanwhile is not compacted, and the cost is recorded", async () => {
    using subject = named.make();
    await using store = await subject.open(() => Date.now());
    const conversation = await begin(store);
    const summarise = async () => {
      await conversation.append(user("meanwhile"));
      return answered("## Goal\nlate");
    };
    await expect(compactConversation(conversation, { ...base, summarise })).rejects.toMatchObject({
      code: "head_moved",
    });
    expect(await compactionsOf(conversation)).toEqual([]);
    expect((await conversation.usage()).costMicros).toBe(5);
  });
});
