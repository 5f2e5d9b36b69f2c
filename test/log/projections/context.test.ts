import { describe, expect, test } from "vitest";
import type { Entry } from "#log/entry";
import { ContextReader } from "#log/projections/context";
import { OUTCOME_UNKNOWN, RESULT_HIDDEN } from "#log/projections/pairs";
import { aConversation, assistant, contextOf, result, user } from "../../support/a-log.ts";

const summary = (text: string): string => `user:Summary of the conversation so far:\n\n${text}`;

describe("a context", () => {
  test("holds the messages of the active branch in order", async () => {
    const conversation = await aConversation(user("one", "m1"), assistant("two", "m2"), user("three"));
    await conversation.append({ ...user("other"), parentId: "m2" });
    expect(await contextOf(conversation)).toEqual(["user:one", "assistant:two", "user:other"]);
  });

  test("never begins with a reply: a hidden first prompt keeps its place", async () => {
    const conversation = await aConversation(
      user("secret", "m1"),
      assistant("kept", "m2"),
      user("more", "m3"),
    );
    await conversation.hide("m1");
    expect(await contextOf(conversation)).toEqual([
      "user:This message was hidden.",
      "assistant:kept",
      "user:more",
    ]);
    await conversation.hide("m2");
    expect(await contextOf(conversation)).toEqual(["user:more"]);
  });

  test("takes the model from the latest model change on the path and keeps the change out of the messages", async () => {
    const conversation = await aConversation(
      user("one", "m1"),
      { type: "model_change", model: "example-2" },
      user("two"),
    );
    expect(await contextOf(conversation)).toEqual(["user:one", "user:two"]);
    expect((await conversation.context()).model).toBe("example-2");
    expect((await conversation.context({ at: "m1" })).model).toBeNull();
  });

  test("falls back to the model that replied last where none was chosen, also from behind a compaction", async () => {
    const reply = {
      type: "message",
      message: { role: "assistant", content: [{ type: "text", text: "hi" }], model: "example-1" },
    } as const;
    const conversation = await aConversation(
      user("one"),
      reply,
      { type: "compaction", summary: "s" },
      user("two"),
    );
    expect((await conversation.context()).model).toBe("example-1");
  });

  test("opens with the summary of the latest compaction and keeps what it kept", async () => {
    const conversation = await aConversation(
      user("one"),
      assistant("two"),
      user("three", "m3"),
      assistant("four"),
    );
    await conversation.append([{ type: "compaction", summary: "S", firstKeptEntryId: "m3" }, user("five")]);
    expect(await contextOf(conversation)).toEqual([
      summary("S"),
      "user:three",
      "assistant:four",
      "user:five",
    ]);
    expect(await contextOf(conversation, "m3")).toEqual(["user:one", "assistant:two", "user:three"]);
  });

  test("says which model said a message, and where a compaction came between its thinking and what it followed", async () => {
    const thought = (id: string) =>
      ({
        type: "message",
        id,
        message: { role: "assistant", model: "p/x", content: [{ type: "thinking", thinking: "hm" }] },
      }) as const;
    const conversation = await aConversation(user("one", "m1"), user("two", "m2"), thought("m3"));
    await conversation.append([
      { type: "compaction", summary: "S", firstKeptEntryId: "m2" },
      user("three"),
      thought("m5"),
    ]);
    const { messages } = await conversation.context();
    const said = messages.filter(({ role }) => role === "assistant");
    expect(said.map(({ entryId, model, staleThinking }) => [entryId, model, staleThinking])).toEqual([
      ["m3", "p/x", true],
      ["m5", "p/x", undefined],
    ]);
  });

  test("replaces everything when a compaction keeps nothing", async () => {
    const conversation = await aConversation(user("one"), { type: "compaction", summary: "S" }, user("two"));
    expect(await contextOf(conversation)).toEqual([summary("S"), "user:two"]);
  });

  test("lets the last of several compactions win, whatever lies in its kept range", async () => {
    const conversation = await aConversation(user("a", "a"), user("b", "b"), user("c", "c"));
    await conversation.append([{ type: "compaction", summary: "S1", firstKeptEntryId: "b" }, user("d", "d")]);
    await conversation.append([{ type: "compaction", summary: "S2", firstKeptEntryId: "c" }, user("e")]);
    expect(await contextOf(conversation)).toEqual([summary("S2"), "user:c", "user:d", "user:e"]);
  });

  test("sends nothing from before a reset, and no skills or state of that time", async () => {
    const conversation = await aConversation(
      user("old"),
      { type: "skill_change", skills: [{ name: "pdf" }] },
      { type: "state_change", state: { step: 1 } },
      { type: "model_change", model: "m" },
      { type: "reset", reason: "new chat" },
      user("new"),
    );
    const context = await conversation.context();
    expect(await contextOf(conversation)).toEqual(["user:new"]);
    expect([context.skills, context.state, context.model]).toEqual([[], null, "m"]);
  });

  test("has custom entries only when they ask for it, branch summaries always, seeds and details never", async () => {
    const conversation = await aConversation(
      user("one", "m1"),
      { type: "custom", customType: "note", data: { a: 1 } },
      { type: "custom", customType: "note", data: "said", inContext: true },
      { type: "branch_summary", fromId: "m1", summary: "B" },
      { type: "seed", run: "r1", messages: [{ role: "system", content: "x" }] },
      { type: "config_change", config: { mode: "plan" } },
      {
        type: "message",
        message: { role: "user", content: [{ type: "text", text: "two" }], details: { secret: true } },
      },
    );
    const context = await conversation.context();
    expect(await contextOf(conversation)).toEqual([
      "user:one",
      "user:said",
      "user:Summary of another branch of this conversation:\n\nB",
      "user:two",
    ]);
    expect(JSON.stringify(context.messages)).not.toContain("secret");
    expect(context.config).toEqual({ mode: "plan" });
  });

  test("carries the data of a custom entry as its exact text", async () => {
    const conversation = await aConversation(
      '{"type":"custom","customType":"n","inContext":true,"data":{"n":12345678901234567890}}',
    );
    expect(await contextOf(conversation)).toEqual(['user:{"n":12345678901234567890}']);
  });

  test("keeps internal messages, which only people do not read", async () => {
    const conversation = await aConversation({
      type: "message",
      message: { role: "user", content: [{ type: "text", text: "quiet" }], internal: true },
    });
    expect(await contextOf(conversation)).toEqual(["user:quiet"]);
  });

  test("leaves out empty replies, which would read as work already done", async () => {
    const conversation = await aConversation(user("one"), assistant(""), assistant("  "), user("two"));
    expect(await contextOf(conversation)).toEqual(["user:one", "user:two"]);
  });
});

describe("tool pairs in a context", () => {
  test("stand together in the order of the calls, whatever came between", async () => {
    const conversation = await aConversation(
      assistant("go", "m", "c1", "c2"),
      user("steer"),
      result("c2", "R2"),
      result("c1", "R1"),
    );
    expect(await contextOf(conversation)).toEqual([
      "assistant:go #c1 #c2",
      "toolResult:R1@c1",
      "toolResult:R2@c2",
      "user:steer",
    ]);
  });

  test("get exactly one result: a missing one reads as unknown, and is reported", async () => {
    const conversation = await aConversation(
      assistant("", "m", "c1", "c2"),
      result("c2", "R2"),
      user("next"),
    );
    expect(await contextOf(conversation)).toEqual([
      "assistant:#c1 #c2",
      `toolResult:${OUTCOME_UNKNOWN}@c1`,
      "toolResult:R2@c2",
      "user:next",
    ]);
    expect((await conversation.context()).issues.map((issue) => [issue.kind, issue.entry])).toEqual([
      ["orphan_call", "m"],
    ]);
  });

  test("match a reused call id to the call before the result", async () => {
    const conversation = await aConversation(
      assistant("", "m1", "c1"),
      assistant("", "m2", "c1"),
      result("c1", "second"),
    );
    expect(await contextOf(conversation)).toEqual([
      "assistant:#c1",
      `toolResult:${OUTCOME_UNKNOWN}@c1`,
      "assistant:#c1",
      "toolResult:second@c1",
    ]);
  });

  test("drop results without a call and second results, and say so", async () => {
    const conversation = await aConversation(
      result("zz", "stray"),
      assistant("", "m1", "c1"),
      result("c1", "first"),
      result("c1", "again"),
    );
    expect(await contextOf(conversation)).toEqual(["assistant:#c1", "toolResult:first@c1"]);
    expect((await conversation.context()).issues.map((issue) => issue.kind)).toEqual([
      "orphan_result",
      "duplicate_result",
    ]);
  });

  test("stay whole when the result is hidden, and go together when the call is", async () => {
    const conversation = await aConversation(
      assistant("", "m1", "c1"),
      result("c1", "R1", "r1"),
      assistant("", "m2", "c2"),
      result("c2", "R2"),
    );
    await conversation.hide("r1");
    await conversation.hide("m2");
    expect(await contextOf(conversation)).toEqual(["assistant:#c1", `toolResult:${RESULT_HIDDEN}@c1`]);
    await conversation.hide("r1", false);
    expect(await contextOf(conversation)).toEqual(["assistant:#c1", "toolResult:R1@c1"]);
  });
});

describe("a context that is taken page by page", () => {
  const bodies = [
    result("c0", "stray"),
    ...Array.from({ length: 40 }, (_, n) => [
      user(`prompt ${n}`),
      assistant("", undefined, `c${n % 3}`, `d${n}`),
      result(`c${n % 3}`, `R${n}`),
      ...(n % 4 === 0 ? [result(`c${n % 3}`, "again")] : []),
      ...(n % 5 === 0 ? [] : [result(`d${n}`, `D${n}`)]),
    ]).flat(),
  ];
  const bounds = { compaction: null, done: true, boundaryMissing: false };

  test.each([1, 2, 7, 1_000])("is the same context in pages of %i", async (size) => {
    const conversation = await aConversation(...bodies);
    const { issues, messages, ...settings } = await conversation.context();
    const branch = (await conversation.branch()).toReversed();
    const [context, alone] = [new ContextReader(), new ContextReader("issues")];
    for (let from = 0; from < branch.length; from += size) {
      context.add(branch.slice(from, from + size), new Set());
      alone.add(branch.slice(from, from + size), new Set());
    }
    const read = context.result(bounds, settings, settings.leaf);
    expect(read).toEqual({ ...settings, issues, messages });
    expect(issues.length).toBeGreaterThan(10);
    expect(alone.issues(bounds)).toEqual(issues);
  });

  test("looks at no entry again at the end, however long it is", async () => {
    const conversation = await aConversation(...bodies);
    const { messages: _, ...settings } = await conversation.context();
    let looks = 0;
    const watched = (await conversation.branch()).toReversed().map(
      (entry): Entry =>
        new Proxy(entry, {
          get: (target, name, receiver) => {
            looks++;
            return Reflect.get(target, name, receiver);
          },
        }),
    );
    const context = new ContextReader();
    for (const entry of watched) context.add([entry], new Set());
    const added = looks;
    expect(context.result(bounds, settings, settings.leaf).messages.length).toBeGreaterThan(100);
    expect([added > bodies.length, looks - added]).toEqual([true, 0]);
  });
});
