/** The judge on trial: every rule is seen to be broken by a log made for it, and a sound log breaks none. */
import { expect, test } from "vitest";
import type { Entry } from "#log/entry";
import { judgeConversation, judgeLog, LogJudge, recallOf } from "#testing/index";
import { aConversation, user } from "../../support/a-log.ts";

type Sketch = { readonly type: Entry["type"]; readonly [name: string]: unknown };

function log(...sketches: readonly Sketch[]): readonly Entry[] {
  return sketches.map(({ type, ...payload }, at) => {
    const place = { id: `e${at + 1}`, seq: at + 1, parentId: null };
    const entry = { v: 1, ...place, time: "2026-01-01T00:00:00Z", type, payload: JSON.stringify(payload) };
    return Object.assign(entry, payload) as unknown as Entry;
  });
}

const start = (turn: string): Sketch => ({ type: "turn_start", turn, prompt: `p-${turn}` });
const end = (turn: string, more: object = {}): Sketch => ({
  type: "turn_end",
  turn,
  outcome: "completed",
  ...more,
});
const link = (upstream: string, reason: string = "first"): Sketch => ({
  type: "upstream_link",
  upstream,
  agent: "claude",
  reason,
});
const attempt = (turn: string, upstream: string): Sketch => ({ type: "attempt", turn, upstream });
const signedOut = (upstream: string): Sketch => ({ type: "upstream_end", upstream, reason: "sign_out" });
const tool: Sketch = { type: "tool_intent", call: "c", name: "email" };
const said = (text: string): Sketch => ({
  type: "message",
  message: { role: "user", content: [{ type: "text", text }] },
});

const calling: Sketch = {
  type: "message",
  message: { role: "assistant", content: [{ type: "toolCall", id: "c", name: "email", input: {} }] },
};
const answered: Sketch = { type: "message", message: { role: "toolResult", toolCallId: "c", content: [] } };
const answer: Sketch = { type: "message", message: { role: "assistant", content: [] } };
const ofLoop: Sketch = { type: "attempt", turn: "t1", model: "sim/a" };

const failing = (turns: number): readonly Sketch[] =>
  Array.from({ length: turns }, (_, at) => [
    start(`f${at}`),
    attempt(`f${at}`, "s1"),
    end(`f${at}`, { outcome: "failed", class: "failed", upstream: "s1" }),
  ]).flat();

const SOUND = [said("hi"), start("t1"), link("s1"), attempt("t1", "s1"), tool, end("t1")];

test("a sound log breaks no rule", () => {
  expect(judgeLog(log(...SOUND, start("t2"), attempt("t2", "s1"), end("t2")))).toEqual([]);
});

test("a loop that asks on with what its tools gave breaks no rule", () => {
  const steps = Array.from({ length: 12 }, (_, at) => [ofLoop, calling, at % 2 === 0 ? tool : answered]);
  expect(judgeLog(log(start("t1"), ...steps.flat(), end("t1")))).toEqual([]);
});

test("a loop whose process was killed at each of many attempts, and then answered, breaks no rule", () => {
  const killed = Array.from({ length: 30 }, () => ofLoop);
  expect(judgeLog(log(start("t1"), ...killed, said("steered"), ofLoop, answer, end("t1")))).toEqual([]);
});

test.each<[string, readonly Sketch[]]>([
  ["two turns at a time", [start("t1"), start("t2")]],
  ["a turn that ends twice", [start("t1"), end("t1"), end("t1")]],
  ["an attempt outside of its turn", [link("s1"), attempt("t1", "s1")]],
  ["a session that is used before it is linked", [start("t1"), attempt("t1", "s1")]],
  ["a prompt sent again after a tool ran", [...SOUND.slice(0, 5), attempt("t1", "s1")]],
  ["a session given up for a limit", [{ type: "upstream_end", upstream: "s1", reason: "limit" }]],
  ["a chain begun anew for an overload", [link("s1", "overloaded")]],
  [
    "a steer that is delivered twice",
    Array.from({ length: 2 }, () => ({ type: "steer", steer: "x", state: "delivered" }) as const),
  ],
  [
    "an effect that is begun twice",
    Array.from({ length: 2 }, () => ({ ...tool, replay: "never", idempotencyKey: "k" }) as const),
  ],
  [
    "a loop that asks for one answer for ever",
    [start("t1"), ...Array.from({ length: 10 }, () => ({ type: "attempt", turn: "t1" }) as const)],
  ],
  [
    "a loop that gives up after too many attempts",
    [start("t1"), ...Array.from({ length: 10 }, () => ofLoop), end("t1", { outcome: "failed" })],
  ],
  ["a loop that asks on before its call is begun or answered", [start("t1"), ofLoop, calling, ofLoop]],
  [
    "an agent that is asked for ever, whatever it said in between",
    [start("t1"), link("s1"), ...Array.from({ length: 10 }, () => [attempt("t1", "s1"), calling]).flat()],
  ],
  ["restored text kept as a message", [said("[Earlier conversation, restored from its log]\nthe user said")]],
  [
    "a turn that goes on for ever",
    [start("t1"), link("s1"), ...Array.from({ length: 10 }, () => attempt("t1", "s1"))],
  ],
  [
    "a session that is used after a sign-out",
    [link("s1"), signedOut("s1"), start("t1"), attempt("t1", "s1")],
  ],
  ["a session that is used on though it fails every prompt", [link("s1"), ...failing(4)]],
])("%s is found", (_, sketches) => {
  expect(judgeLog(log(...sketches))).toHaveLength(1);
});

test("a gap and an entry that is there twice are found", () => {
  const [first, second] = log(said("a"), said("b"));
  if (first === undefined || second === undefined) throw new RangeError("Two entries were made");
  expect(judgeLog([first, { ...second, seq: 3 }])).toHaveLength(1);
  expect(judgeLog([first, { ...second, id: first.id }])).toHaveLength(1);
});

test("what rests on a witness is judged where there is one", () => {
  const parked = [
    link("s1"),
    start("t1"),
    attempt("t1", "s1"),
    end("t1", { upstream: "s1", class: "limit" }),
  ];
  const limited = log(...parked, link("s2", "lost"));
  expect(judgeLog(limited)).toEqual([]);
  expect(judgeLog(limited, { touches: () => 1 })).toHaveLength(1);
  expect(judgeLog(log(...parked, link("s2", "forked")), { touches: () => 1 })).toEqual([]);
  expect(judgeLog(log(...parked, signedOut("s1"), link("s2", "lost")), { touches: () => 1 })).toEqual([]);
  expect(judgeLog(limited, { touches: () => 1, resumes: () => false })).toEqual([]);
  expect(judgeLog(limited, { claim: (session) => session === "s1" })).toHaveLength(1);
});

test("a call that is recorded as done and never ran is found where somebody knows what ran", () => {
  const called = log(start("t1"), link("s1"), attempt("t1", "s1"), tool, calling, answered, end("t1"));
  expect(judgeLog(called)).toEqual([]);
  expect(judgeLog(called, { ran: () => true })).toEqual([]);
  expect(judgeLog(called, { ran: () => false })).toHaveLength(1);
  const refused = { role: "toolResult", toolCallId: "c", content: [], isError: true };
  const failed = log(calling, { type: "message", message: refused });
  expect(judgeLog(failed, { ran: () => false })).toEqual([]);
  const answers = [end("f9", { upstream: "s1" })];
  const sound = log(link("s1"), ...failing(3), start("f9"), attempt("f9", "s1"), ...answers);
  expect(judgeLog(sound)).toEqual([]);
});

test("a judge that is kept is given only what is new", async () => {
  const conversation = await aConversation();
  const judge = new LogJudge();
  await conversation.append(user("one"));
  expect(await judgeConversation(conversation, judge)).toEqual([]);
  const { seq } = judge;
  await conversation.append(user("two"));
  expect(await judgeConversation(conversation, judge)).toEqual([]);
  expect(judge.seq).toBeGreaterThan(seq);
  expect([...judge.texts.values()]).toEqual(["one", "two"]);
});

test("a text is known within the window, old behind it, and gone behind a reset", async () => {
  const conversation = await aConversation();
  for (const text of ["a=1", "b=2", "now?"]) await conversation.append(user(text));
  const about = async (fact: string, window: number): Promise<string> =>
    recallOf(await conversation.branch(), { fact, window });
  expect([await about("a=1", 2), await about("a=1", 1), await about("c=3", 9)]).toEqual([
    "known",
    "old",
    "gone",
  ]);
  await conversation.append([{ type: "reset" }, user("now?")]);
  expect(await about("a=1", 9)).toBe("gone");
});
