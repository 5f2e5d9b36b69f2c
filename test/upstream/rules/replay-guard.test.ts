/** What a turn leaves in the log, what is held back of it, and whether a transcript agrees with it. */
import { describe, expect, test } from "vitest";
import { isStaleReplay, ReplayGuard } from "#upstream/rules/replay-guard";
import { transcriptMatches } from "#upstream/rules/transcript";
import { turnMessages } from "#turn/rules/turn-record";
import type { TurnEvent } from "#turn/rules/turn-event";

const text = (words: string): TurnEvent => ({ type: "text", text: words });
const tool = (call: string, state: "started" | "done" | "failed"): TurnEvent => ({
  type: "tool",
  call,
  name: "send",
  input: {},
  state,
  ...(state === "started" ? {} : { output: `${call} ${state}` }),
});

describe("the replay guard", () => {
  const passed = (guard: ReplayGuard, ms: number, ...pieces: readonly string[]): string =>
    pieces
      .flatMap((piece) => guard.add(text(piece), ms))
      .map((event) => (event.type === "text" ? event.text : ""))
      .join("");

  test("holds what comes in the first moment, and knows the previous answer however it is cut or padded", () => {
    const guard = new ReplayGuard(["  The sky is blue\n"], true);
    expect(passed(guard, 1, "\nThe s", "ky is", " blue", "\n")).toBe("");
    expect([guard.repeated, guard.holding]).toEqual([true, true]);
    expect(passed(new ReplayGuard(["The sky is blue"], true), 1, "The sky")).toBe("");
  });

  test("lets everything through once the moment is over, but for what could still be an old answer", () => {
    const guard = new ReplayGuard(["The sky is blue", "Done."], true);
    expect(passed(guard, 1, "The ", "sky ")).toBe("");
    expect(passed(guard, 50, "is ")).toBe("");
    expect(passed(guard, 51, "grey")).toBe("The sky is grey");
    expect(passed(guard, 52, "!")).toBe("!");
    expect([guard.repeated, guard.holding]).toEqual([false, false]);
    const quick = new ReplayGuard(["yes"], true);
    expect(passed(quick, 1, "no")).toBe("");
    expect(quick.afterMoment()).toEqual([text("no")]);
    const same = new ReplayGuard(["The sky is blue", "Done."], true);
    expect(passed(same, 500, "Do", "ne.")).toBe("");
    expect([same.repeated, same.release()]).toEqual([true, [text("Do"), text("ne.")]]);
    const slow = new ReplayGuard(["The sky is blue"], true);
    expect(passed(slow, 500, "The sky")).toBe("");
    expect(passed(slow, 1_000, " is")).toBe("The sky is");
  });

  test("knows that less or more than the previous answer is another one", () => {
    const said = (words: string): boolean => {
      const guard = new ReplayGuard(["yes, and no", ""], true);
      guard.add(text(words), 1);
      return guard.repeated;
    };
    expect([said("yes, and no"), said("yes"), said("yes, and no!"), said(" ")]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  test("holds nothing of a new session", () => {
    expect(new ReplayGuard(["yes"], false).add(text("yes"), 1)).toHaveLength(1);
  });

  test("a tool lets everything through in order; ids and usage are never held", () => {
    const guard = new ReplayGuard(["yes"], true);
    expect(guard.add({ type: "session", id: "x" }, 1)).toHaveLength(1);
    expect(guard.add({ type: "thinking", text: "hm" }, 1)).toEqual([]);
    expect(guard.add(text("ye"), 1)).toEqual([]);
    expect(guard.add(tool("a", "started"), 1).map((event) => event.type)).toEqual([
      "thinking",
      "text",
      "tool",
    ]);
  });

  const cached = { inputTokens: 3, cacheReadTokens: 21_000, cacheWriteTokens: 0, outputTokens: 4 };
  const drained = { inputTokens: 3, outputTokens: 4 };
  const none = { ...drained, cacheReadTokens: 0 };
  const end = { repeated: true, reused: true, cutOff: true, unproven: false, durationMs: 1, usage: drained };
  test.each([
    ["what was said before comes at once and next to nothing was read for it", {}, true],
    ["the rest of an answer that was cut off comes at once and unread", { repeated: false }, true],
    ["the last answer comes again, at once and unread", { cutOff: false }, true],
    ["other words than before, of a session that was not cut off", { repeated: false, cutOff: false }, false],
    [
      "other words than before, of a session that may hold some we do not know",
      { repeated: false, cutOff: false, unproven: true },
      true,
    ],
    ["the session is a new one", { reused: false }, false],
    ["nearly all of it was read from the cache", { usage: cached }, false],
    ["nearly all of it was written to the cache", { usage: { ...drained, cacheWriteTokens: 900 } }, false],
    ["it took as long as a model takes", { durationMs: 900 }, false],
    [
      "it took its time and is the old answer, and nothing came from a cache",
      { durationMs: 900, usage: none },
      true,
    ],
    ["it took its time and is another answer", { durationMs: 900, usage: none, repeated: false }, false],
    ["nothing was counted", { usage: null }, false],
    ["no output was counted, so nothing was", { usage: { inputTokens: 0, outputTokens: 0 } }, false],
    ["nothing says how much was read", { usage: { outputTokens: 4 } }, false],
  ])("stale: %s", (_, change, expected) => {
    expect(isStaleReplay({ ...end, ...change })).toBe(expected);
  });
});

describe("the messages of a turn", () => {
  const short = (events: readonly TurnEvent[]): readonly string[] =>
    turnMessages(events, { model: null, stopReason: "endTurn" }).map((body) => {
      if (body.type !== "message") return body.type;
      const blocks = body.message.content.map((block) =>
        block.type === "text" ? block.text : block.type === "toolCall" ? `#${block.id}` : block.type,
      );
      return `${body.message.role}${body.message.role === "toolResult" ? `@${body.message.toolCallId}` : ""}:${blocks.join(" ")}`;
    });

  test("streamed pieces are one text", () => {
    expect(short([text("a"), text("b"), text("c")])).toEqual(["assistant:abc"]);
  });

  test("a result stands behind its call, and what follows is another message", () => {
    expect(short([text("go"), tool("a", "started"), tool("a", "done"), text("gone")])).toEqual([
      "assistant:go #a",
      "toolResult@a:a done",
      "assistant:gone",
    ]);
  });

  test("parallel calls keep the order of the calls, even when one ends after the text went on", () => {
    const events = [
      tool("a", "started"),
      tool("b", "started"),
      tool("b", "done"),
      text("meanwhile"),
      tool("a", "failed"),
      text("end"),
    ];
    expect(short(events)).toEqual([
      "assistant:#a #b",
      "toolResult@a:a failed",
      "toolResult@b:b done",
      "assistant:meanwhileend",
    ]);
  });

  test("a call that is told of twice is one call, one that is told of at its end is one too", () => {
    expect(short([tool("a", "started"), tool("a", "started"), tool("a", "done")])).toEqual([
      "assistant:#a",
      "toolResult@a:a done",
    ]);
    expect(short([tool("a", "done"), text("x")])).toEqual([
      "assistant:#a",
      "toolResult@a:a done",
      "assistant:x",
    ]);
  });

  test("a call whose end nobody saw has no result; nothing said leaves nothing", () => {
    expect(short([text("go"), tool("a", "started")])).toEqual(["assistant:go #a"]);
    expect(
      short([
        { type: "usage", usage: {} },
        { type: "session", id: "x" },
      ]),
    ).toEqual([]);
  });

  test("the last message has the reason it stopped for and the usage", () => {
    const usage = { inputTokens: 5 };
    const messages = turnMessages(
      [tool("a", "started"), tool("a", "done"), text("x"), { type: "usage", usage }],
      { model: "m", stopReason: "interrupted" },
    );
    expect(
      messages.map((body) =>
        body.type === "message" && body.message.role === "assistant" ? body.message.stopReason : null,
      ),
    ).toEqual(["toolUse", null, "interrupted"]);
    expect(messages.at(-1)).toMatchObject({ message: { model: "m", usage } });
  });
});

describe("a transcript", () => {
  const u = (words: string): { role: "user"; text: string } => ({ role: "user", text: words });
  const a = (words: string): { role: "assistant"; text: string } => ({ role: "assistant", text: words });
  const ours = [a("fine"), u("how are you"), a("hello"), u("hi")];

  test.each([
    ["as it was", [u("hi"), a("hello"), u("how are you"), a("fine")], true],
    ["with more before", [u("x"), a("y"), u("hi"), a("hello"), u("how are you"), a("fine")], true],
    ["behind a preamble", [u("[restored]\n\nhi"), a("hello"), u("how are you"), a("fine")], true],
    ["in other pieces", [u("hi"), a("hel"), a("lo"), u("how are you"), a(" fine\n")], true],
    ["without its end", [u("hi"), a("hello")], false],
    ["without its beginning", [u("how are you"), a("fine")], false],
    ["with something after", [u("hi"), a("hello"), u("how are you"), a("fine"), u("more"), a("yes")], false],
    ["with another answer", [u("hi"), a("hello"), u("how are you"), a("bad")], false],
    ["empty", [], false],
  ] as const)("%s", (_, shown, expected) => {
    expect(transcriptMatches(shown, ours)).toBe(expected);
  });

  test("of prompts that were sent together the last words count", () => {
    expect(
      transcriptMatches([u("typed before\nand now"), a("ok")], [a("ok"), u("and now"), u("typed before")]),
    ).toBe(true);
  });
});
