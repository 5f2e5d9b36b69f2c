import { expect, test } from "vitest";
import type { Entry } from "#log/entry";
import { compactionInput } from "#log/projections/compaction-input";
import { issuesOf } from "#log/projections/issues";
import { turnsOf } from "#log/projections/turns";
import { EMPTY_WINDOW, extendWindow } from "#log/projections/window";
import { aConversation, assistant, result, user } from "../../support/a-log.ts";

test("the chain keeps every spell of an upstream id, the head last, with what each carried", async () => {
  const link = (upstream: string, reason: string) =>
    ({ type: "upstream_link", upstream, agent: "sim", reason }) as const;
  const conversation = await aConversation(
    link("A", "new"),
    user("1"),
    assistant("2"),
    link("A", "again"),
    link("B", "expired"),
    user("3"),
    link("A", "back"),
    user("4"),
  );
  expect((await conversation.chain()).map((l) => [l.id, l.reason, l.carried])).toEqual([
    ["A", "new", { fromSeq: 3, toSeq: 4 }],
    ["B", "expired", { fromSeq: 7, toSeq: 7 }],
    ["A", "back", { fromSeq: 9, toSeq: 9 }],
  ]);
  expect((await conversation.messagesOf("A")).map(({ seq }) => seq)).toEqual([3, 4, 9]);
  const fork = await conversation.fork();
  await fork.append(link("A", "fork"));
  expect((await fork.chain()).map((l) => [l.id, l.inherited])).toEqual([
    ["A", true],
    ["B", true],
    ["A", true],
    ["A", false],
  ]);
});

test("the effect ledger says done, failed, unknown and not started, per call and not per id", async () => {
  const intent = (call: string) => ({ type: "tool_intent", call, name: "tool", replay: "never" }) as const;
  const conversation = await aConversation(
    assistant("", "m1", "c1", "c2", "c3"),
    intent("c1"),
    result("c1", "ok"),
    intent("c2"),
    assistant("", "m2", "c1"),
  );
  expect((await conversation.effects()).map((e) => [e.call, e.state, e.calledBy])).toEqual([
    ["c1", "done", "m1"],
    ["c2", "unknown", "m1"],
    ["c3", "not_started", "m1"],
    ["c1", "not_started", "m2"],
  ]);
  const upstream = await aConversation(assistant("", "m1", "c1"));
  expect((await upstream.effects()).map((e) => e.state)).toEqual(["unknown"]);
});

test("usage counts every branch and failed attempts, and a shared prefix once", async () => {
  const spent = (inputTokens: number) =>
    ({
      type: "message",
      message: { role: "assistant", content: [], model: "m", usage: { inputTokens } },
    }) as const;
  const conversation = await aConversation(
    user("q", "q"),
    spent(5),
    { ...spent(7), parentId: "q" },
    { type: "attempt", turn: "t", upstream: "A", usage: { inputTokens: 11 } },
  );
  expect(await conversation.usage()).toMatchObject({ inputTokens: 23, byModel: { m: { inputTokens: 12 } } });
  const fork = await conversation.fork();
  await fork.append(spent(100));
  expect((await fork.usage()).inputTokens).toBe(100);
});

test("a steer waits in the queue until it is delivered or cancelled, and never returns", async () => {
  const conversation = await aConversation();
  await conversation.steer("s1", [{ type: "text", text: "one" }]);
  await conversation.steer("s2", [{ type: "text", text: "two" }]);
  await conversation.steer("s1", [{ type: "text", text: "one" }]);
  expect((await conversation.queue()).map((q) => q.steer)).toEqual(["s1", "s2"]);
  await conversation.append([
    { type: "steer", steer: "s1", state: "delivered" },
    { type: "steer", steer: "s1", state: "accepted" },
  ]);
  expect((await conversation.queue()).map((q) => q.steer)).toEqual(["s2"]);
});

test("runs and turns are tables of their facts; what never ended is an issue", async () => {
  const conversation = await aConversation(
    { type: "run_start", run: "r1", trigger: "email" },
    { type: "turn_start", turn: "t1", run: "r1" },
    { type: "attempt", turn: "t1", upstream: "A" },
    { type: "attempt", turn: "t1", upstream: "B" },
    { type: "turn_end", turn: "t1", outcome: "failed", class: "limit" },
    { type: "turn_start", turn: "t2", run: "r1" },
  );
  expect(await conversation.runs()).toMatchObject([
    { run: "r1", trigger: { type: "email", id: null }, status: "running", completedAt: null },
  ]);
  expect((await conversation.issues()).map((issue) => issue.kind)).toEqual(["open_turn", "open_run"]);
  const entries: Entry[] = [];
  for await (const entry of conversation.tail({ signal: AbortSignal.abort() })) entries.push(entry);
  expect(turnsOf(entries)).toEqual([]);
});

test("a gap in the numbering is an issue", () => {
  const at = (seq: number) => ({ seq, id: `e${seq}`, type: "title", title: "x" }) as unknown as Entry;
  expect(issuesOf([at(1), at(4)]).map((issue) => issue.message)).toEqual(["Entries 2 to 3 are missing"]);
});

test("a tree has every node below its parent, and marks those of the active branch", async () => {
  const conversation = await aConversation(user("r", "r"), user("a", "a"), user("b", "b"), {
    ...user("c", "c"),
    parentId: "a",
  });
  const { nodes, leaf } = await conversation.tree();
  const rows = nodes
    .slice(1)
    .map(({ entry, active }) => [entry.id, "parentId" in entry && entry.parentId, active]);
  const root = nodes[0]?.entry.id;
  expect([leaf, rows]).toEqual([
    "c",
    [
      ["r", root, true],
      ["a", "r", true],
      ["b", "a", false],
      ["c", "a", true],
    ],
  ]);
});

test("a row of compactions has every message once, as summary input or kept tail", async () => {
  const conversation = await aConversation(...Array.from({ length: 10 }, (_, n) => user(`m${n}`, `m${n}`)));
  const summarised: string[] = [];
  for (const firstKept of ["m3", "m7", "m9"]) {
    const branch = (await conversation.branch()).toReversed();
    const window = extendWindow(EMPTY_WINDOW, { entries: branch, hidden: new Set(), atRoot: true });
    const input = compactionInput(window, (await conversation.entry(firstKept)).id);
    summarised.push(...input.entries.filter((entry) => entry.type === "message").map((entry) => entry.id));
    expect(input.previousSummary).toBe(firstKept === "m3" ? null : "S");
    await conversation.append({ type: "compaction", summary: "S", firstKeptEntryId: firstKept });
  }
  const kept = (await conversation.context()).messages.flatMap((message) => message.entryId ?? []);
  expect([...summarised, ...kept]).toEqual(Array.from({ length: 10 }, (_, n) => `m${n}`));
});
