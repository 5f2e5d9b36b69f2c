import { describe, expect, test } from "vitest";
import { summariseBranch } from "#agent/compaction/branch-summary";
import { compactConversation } from "#agent/compaction/compact";
import type { Summarise } from "#agent/compaction/summary-writer";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { AppendFaults } from "#testing/faults";
import {
  aConversation,
  assistant,
  contextOf,
  countingIdsAndTime,
  result,
  user,
} from "../../support/a-log.ts";
import { subjects } from "../../support/subjects.ts";
import { answered, base, logOf, LONG, summaryModel, TALK } from "../../support/summary-models.ts";

const SHARED = [user("begin", "u1"), assistant("shared", "a1")];
const LEFT = [user("try the first way", "u2"), assistant("it was a dead end", "a2")];

describe("a branch that is left", () => {
  test("is summarised from where the ways part, and the conversation goes on behind the summary", async () => {
    const conversation = await aConversation(...SHARED, ...LEFT);
    const model = summaryModel(() => answered("## Done\ntried"));
    const done = await summariseBranch(conversation, { to: "a1", summarise: model, model: "sim/s" });
    expect(done).toMatchObject({ state: "summarised", leftOut: 0 });
    expect(model.asked[0]).toContain("dead end");
    expect(model.asked[0]).not.toContain("shared");
    await conversation.append(user("the other way"));
    expect(await contextOf(conversation)).toEqual([
      "user:begin",
      "assistant:shared",
      expect.stringMatching(/^user:.*\n\n## Done\ntried$/),
      "user:the other way",
    ]);
    const entry = done.state === "summarised" ? await conversation.entry(done.entry) : null;
    expect(entry).toMatchObject({ parentId: "a1", fromId: "a2", model: "sim/s" });
  });

  test("is summarised towards another branch, wherever the leaf is, with the files it changed", async () => {
    const write = { type: "toolCall", id: "c", name: "write", input: { path: "x.ts" } } as const;
    const conversation = await aConversation(
      ...SHARED,
      user("one", "b1"),
      { type: "message", id: "b2", message: { role: "assistant", content: [write] } },
      result("c", "ok", "b3"),
      { ...user("two", "o1"), parentId: "a1" },
      assistant("other", "o2"),
    );
    const model = summaryModel();
    const done = await summariseBranch(conversation, { from: "b3", to: "o2", summarise: model });
    expect(done).toMatchObject({ state: "summarised" });
    expect(model.asked[0]).not.toContain("other");
    expect((await contextOf(conversation)).at(-1)).toContain('Files changed\n- "x.ts"');
  });

  test("that is too long is told from its end, and how much is missing is said", async () => {
    const many = Array.from({ length: 12 }, (_, n) => user(`word${n} ${LONG}`, `m${n}`));
    const conversation = await aConversation(...SHARED, ...many);
    const model = summaryModel();
    const done = await summariseBranch(conversation, { to: "a1", summarise: model, summaryWindow: 12_000 });
    expect(done.state === "summarised" && done.leftOut).toBeGreaterThan(3);
    expect(model.asked.length).toBe(1);
    expect(model.asked[0]).toContain("word11");
    expect(model.asked[0]).not.toContain("word0 ");
  });

  test("begins with its own compaction's summary, where it has one", async () => {
    const conversation = await aConversation(...SHARED, user("old", "u2"), user("new", "u3"));
    await conversation.append({ type: "compaction", summary: "## Goal\nolder", firstKeptEntryId: "u3" });
    const model = summaryModel();
    await summariseBranch(conversation, { to: "a1", summarise: model });
    expect(model.asked[0]).toMatch(/older[^]*new/);
    expect(model.asked[0]).not.toContain("old\n");
  });

  test("says nothing when nothing was said there, or a reset lies between", async () => {
    const conversation = await aConversation(...SHARED, ...LEFT, { type: "model_change", model: "m" });
    const model = summaryModel();
    const summarise = { summarise: model };
    expect(await summariseBranch(conversation, { ...summarise, from: "a1", to: "a2" })).toEqual({
      state: "nothing",
    });
    await conversation.hide("u2");
    await conversation.hide("a2");
    expect(await summariseBranch(conversation, { ...summarise, to: "a1" })).toEqual({ state: "nothing" });
    await conversation.hide("a2", false);
    await conversation.append([{ type: "reset", id: "r", parentId: "a1" }, user("anew", "n")]);
    const gone = await summariseBranch(conversation, { ...summarise, from: "a2", to: "n" });
    expect(gone).toEqual({ state: "nothing" });
    expect(model.asked).toEqual([]);
  });

  test("is not left when the summary fails; a fact is no place to go", async () => {
    const conversation = await aConversation(...SHARED, ...LEFT);
    const context = await contextOf(conversation);
    const summarise = summaryModel(() => answered("no"));
    const done = await summariseBranch(conversation, { to: "a1", summarise });
    expect(done).toMatchObject({ state: "failed", problem: "shapeless" });
    expect(await contextOf(conversation)).toEqual(context);
    expect((await conversation.head()).leaf.id).toBe("a2");
    const { lastId } = await conversation.title("t");
    await expect(summariseBranch(conversation, { to: lastId, summarise })).rejects.toMatchObject({
      code: "unknown_target",
    });
  });
});

/**
 * Goal: whenever the process ends, a summary has happened as a whole or not at all. Method: end it while the model is asked,
 * before the write, and after it; open the store anew, look, and do it again.
 */
describe.each(subjects)("over $name, a process that ends", (named) => {
  const works = {
    compaction: (conversation: Conversation, summarise: Summarise) =>
      compactConversation(conversation, { ...base, summarise }),
    "branch summary": (conversation: Conversation, summarise: Summarise) =>
      summariseBranch(conversation, { to: "u1", summarise }),
  };
  test.each([
    ["compaction", "asking"],
    ["compaction", "lost"],
    ["compaction", "landed"],
    ["branch summary", "asking"],
    ["branch summary", "lost"],
    ["branch summary", "landed"],
  ] as const)("scenario 34: during a %s (%s) leaves all of it or nothing", async (what, site) => {
    using subject = named.make();
    const faults = new AppendFaults();
    let before: readonly string[] = [];
    {
      await using store = await subject.open(() => Date.now());
      const conversation = await new Holdfast(store, "s", countingIdsAndTime()).create({ id: "c" });
      await conversation.append(TALK);
      before = await logOf(conversation);
      const dying = await new Holdfast(faults.store(store), "s", countingIdsAndTime()).conversation("c");
      const { promise: died, resolve } = Promise.withResolvers<void>();
      const model = summaryModel();
      if (site !== "asking") faults.arm({ skip: 0, of: "all", end: site, strike: () => resolve() });
      const summarise: Summarise = (request) => {
        if (site !== "asking") return model(request);
        resolve();
        return new Promise(() => undefined);
      };
      works[what](dying, summarise).catch(() => undefined);
      await died;
    }
    await using store = await subject.open(() => Date.now());
    const conversation = await new Holdfast(store, "s", countingIdsAndTime()).conversation("c");
    const after = await logOf(conversation);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.length).toBe(before.length + (site === "landed" ? 1 : 0));
    const type = what === "compaction" ? "compaction" : "branch_summary";
    const { leaf } = await conversation.head();
    expect((await conversation.entry(leaf.id)).type).toBe(site === "landed" ? type : "message");
    if (site === "landed") return;
    await works[what](conversation, summaryModel());
    expect((await conversation.entry((await conversation.head()).leaf.id)).type).toBe(type);
  });
});
