/** What another session, or another agent, is told of the conversation it goes on with. */
import { describe, expect, test } from "vitest";
import type { HostEvent } from "#turn/host";
import type { Upstream } from "#upstream/upstream";
import type { EntryBody } from "#log/entry";
import { CUT_OFF_LABEL } from "#upstream/rules/preamble";
import { PRIOR_BUDGET, weightOf, windowBudget } from "#upstream/rules/prior-budget";
import type { Store } from "#store/store";
import type { SpaceStore } from "#store/facets";
import { inMemoryStore } from "#stores/in-memory/index";
import { assistant, result, user } from "../support/a-log.ts";
import { aRig, isText, type Rig } from "./rig.ts";

const TWO = [{ agent: "claude" }, { agent: "codex" }];

test("the next agent is told how far a reply came that was cut off", async () => {
  const rig = await aRig({ agents: TWO });
  const isTwelfth = (event: HostEvent): boolean =>
    event.type === "update" && event.event.type === "text" && event.event.text.startsWith("Step 12");
  await rig.dieDuring("work 20", isTwelfth);
  await rig.send("go on", { agent: "codex" });
  const told = rig.transcripts().at(-1) ?? "";
  expect(told).toContain(`${CUT_OFF_LABEL}\n> Step 1 of 20 done.`);
});

test("a stopped reply is told to the next agent as one that was stopped", async () => {
  const rig = await aRig({ agents: TWO });
  const stopped = rig.when(isText, () => rig.runtime.cancel("c"));
  const sent = rig.send("work 20");
  await stopped;
  expect(await sent).toMatchObject({ class: "cancelled" });
  await rig.send("go on", { agent: "codex" });
  expect(rig.transcripts().at(-1)).toContain(CUT_OFF_LABEL);
});

const words = (count: number, chars: number): readonly EntryBody[] =>
  Array.from({ length: count }, (_, at) =>
    at % 2 === 0
      ? user(`question ${at} ${"q".repeat(chars)}`)
      : assistant(`answer ${at} ${"a".repeat(chars)}`),
  );

test.each([40, 120])("another agent still knows the first of %i turns", async (turns) => {
  const rig = await aRig({ agents: TWO });
  await rig.say(
    "remember color=blue",
    ...Array.from({ length: turns - 1 }, (_, at) => `remember k${at}=v${at}`),
  );
  expect(await rig.send("recall color", { agent: "codex" })).toMatchObject({ text: "blue" });
  expect((await rig.of("attempt")).at(-1)?.priorContext).toMatchObject({
    messages: 2 * turns,
    leftOut: 0,
    effects: 0,
  });
});

test("another agent knows the first request of a conversation that fits into no window, and people are told", async () => {
  const rig = await aRig({ agents: TWO });
  await rig.say("remember color=blue");
  const conversation = await rig.holdfast.conversation("c");
  await conversation.append(words(240, 4_000));
  await conversation.append({
    type: "message",
    message: {
      role: "assistant",
      content: [{ type: "toolCall", id: "t", name: "edit", input: { path: "src/a.ts" } }],
    },
  });
  expect(await rig.send("recall color", { agent: "codex" })).toMatchObject({ text: "blue" });
  const told = (await rig.of("attempt")).at(-1)?.priorContext;
  expect((told?.messages ?? 0) + (told?.leftOut ?? 0)).toBe(242);
  expect(told?.messages).toBeGreaterThan(2);
  expect(told?.leftOut).toBeGreaterThan(100);
  expect(rig.told("session").at(-1)).toMatchObject({ silent: false, priorContext: told });
});

test.each([
  ["without a beginning in reach", 20_000, []],
  ["also behind a reset", 20_000, [{ type: "reset" } as const]],
])("the first request is found however long the conversation is, %s", async (_, count, before) => {
  const rig = await aRig({ agents: TWO });
  const conversation = await rig.holdfast.conversation("c");
  await conversation.append([user("remember shape=round"), ...before, user("remember color=blue")]);
  for (let at = 0; at < count; at += 1_000) await conversation.append(words(1_000, 10));
  expect(await rig.send("recall color", { agent: "codex" })).toMatchObject({ text: "blue" });
  const shape = before.length === 0 ? "round" : "I do not know shape";
  expect(await rig.send("recall shape", { agent: "codex" })).toMatchObject({ text: shape });
  expect((await rig.of("attempt"))[0]?.priorContext).toMatchObject({ more: true });
});

test("what is left out is outlined: what was asked, with which tools, on which files", async () => {
  const call = (id: string, path: string): EntryBody => ({
    type: "message",
    message: {
      role: "assistant",
      content: [{ type: "toolCall", id, name: "edit", input: { file_path: path } }],
    },
  });
  const old = [
    user("first"),
    call("a", "one.ts"),
    assistant("did it"),
    user("second"),
    call("b", "two.ts"),
    user("third"),
  ];
  const rig = await aRig({ agents: TWO, more: { prior: { ...PRIOR_BUDGET, messages: 2 } } });
  await (await rig.holdfast.conversation("c")).append([...old, user("x"), assistant("y")]);
  await rig.send("hello", { agent: "codex" });
  const told = rig.transcripts().at(-1) ?? "";
  for (const line of ["4 messages", "\n> first", "\n> second", "> third", "edit (2)", "> one.ts\n> two.ts"])
    expect(told).toContain(line);
  expect(told).not.toContain("did it");
});

test("a window that is smaller than the usual share is kept to", async () => {
  const small = (upstream: Upstream): Upstream => ({
    ...upstream,
    open: async (settings) => Object.assign(await upstream.open(settings), { windowTokens: 4_000 }),
  });
  const rig = await aRig({ around: small });
  await (await rig.holdfast.conversation("c")).append(words(100, 400));
  await rig.send("hello");
  expect(rig.transcripts().at(-1)?.length).toBeLessThan(4_000 * 3);
});

test("text that is not ASCII takes the room it takes", () => {
  expect(windowBudget(100_000).totalChars).toBeGreaterThan(weightOf("x".repeat(80_000)));
  expect(windowBudget(100_000).totalChars).toBeLessThan(weightOf("語".repeat(80_000)));
});

test("another agent is told in short what the tools returned", async () => {
  const rig = await aRig({ agents: TWO });
  await (
    await rig.holdfast.conversation("c")
  ).append([
    user("list"),
    {
      type: "message",
      message: { role: "assistant", content: [{ type: "toolCall", id: "t", name: "ls", input: {} }] },
    },
    result("t", `one.ts\ntwo.ts ${"z".repeat(9_000)}`),
    assistant("two files"),
  ]);
  await rig.send("hello", { agent: "codex" });
  expect(rig.transcripts().at(-1)).toMatch(
    /^> ls \{\}: done: one\.ts two\.ts z+ … \(\d+ more characters\)$/m,
  );
});

test("an upstream that comes back is a link of its own, and every message says who carried it", async () => {
  const rig = await aRig({ agents: TWO });
  const first = await rig.send("remember a=1");
  const second = await rig.send("remember b=2", { agent: "codex" });
  const third = await rig.send("remember c=3");
  const conversation = await rig.holdfast.conversation("c");
  const chain = await conversation.chain();
  expect(chain.map(({ id, reason }) => [id, reason])).toEqual([
    [first.upstream, "first"],
    [second.upstream, "agent_switch"],
    [first.upstream, "switched_back"],
  ]);
  expect(new Set(chain.map(({ since }) => since)).size).toBe(3);
  const messages = await rig.of("message");
  const ranges = [0, 2, 4].map((at) => ({ fromSeq: messages[at]?.seq, toSeq: messages[at + 1]?.seq }));
  expect(chain.map(({ carried }) => carried)).toEqual(ranges);
  expect(await conversation.carriersOf(second.prompt)).toEqual([chain[1]]);
  expect((await conversation.messagesOf(first.upstream ?? "")).map(({ id }) => id)).toEqual(
    [0, 1, 4, 5].map((at) => messages[at]?.id),
  );
  expect(third.upstream).toBe(first.upstream);
});

test("a prompt that two agents were given was carried by both, and its reply by the one that gave it", async () => {
  const rig = await aRig({ agents: TWO });
  await rig.say("hello");
  rig.script({ kind: "limit", phase: "start", agent: "claude" });
  const { prompt, upstream } = await rig.send("work 2", { whenLimited: "switch" });
  const conversation = await rig.holdfast.conversation("c");
  expect((await conversation.carriersOf(prompt)).map(({ agent }) => agent)).toEqual(["claude", "codex"]);
  const reply = (await rig.of("message")).at(-1);
  expect((await conversation.carriersOf(reply?.id ?? "")).map(({ id }) => id)).toEqual([upstream]);
});

/** What one attempt of the simulated agent reads anew. */
const READ = 3;

test("what attempts used that were given up, failed, or said it only at the end is counted", async () => {
  const rig = await aRig();
  rig.script({ kind: "empty", phase: "start" });
  expect(await rig.send("hello")).toMatchObject({
    outcome: "completed",
    end: { usage: { inputTokens: READ } },
  });
  const conversation = await rig.holdfast.conversation("c");
  expect((await conversation.usage()).inputTokens).toBe(2 * READ);
  rig.script({ kind: "empty", phase: "start", times: 2 });
  await rig.send("hello again");
  expect((await conversation.usage()).inputTokens).toBe(4 * READ);
});

test("what an attempt used before the host died is counted when its turn is settled", async () => {
  const rig = await aRig();
  rig.script({ kind: "empty", phase: "start" });
  await rig.dieDuring("work 9", isText);
  await rig.world.timeline.pass(60_000);
  await rig.say("hello");
  const [settled] = await rig.of("turn_end");
  expect(settled).toMatchObject({ outcome: "interrupted" });
  expect(await rig.of("attempt_end")).toMatchObject([{ class: "empty", usage: { inputTokens: READ } }]);
});

test("what format 1 kept among the updates of a turn that was left open is counted when it is settled", async () => {
  const rig = await aRig();
  await rig.say("hello");
  const conversation = await rig.holdfast.conversation("c");
  const [link] = await rig.of("upstream_link");
  const events = [{ type: "usage", usage: { inputTokens: 50 } }];
  await conversation.append([
    { type: "message", id: "p", message: { role: "user", content: [{ type: "text", text: "more" }] } },
    { type: "turn_start", turn: "old", prompt: "p" },
    { type: "attempt", turn: "old", upstream: link?.upstream ?? "" },
    { type: "update", turn: "old", data: { events } },
  ]);
  await rig.say("hello again");
  expect(await rig.of("attempt_end")).toMatchObject([{ turn: "old", usage: { inputTokens: 50 } }]);
});

async function left(options: Parameters<typeof aRig>[0] = {}): Promise<Rig> {
  const rig = await aRig(options);
  const { prompt } = await rig.send("remember color=blue");
  await rig.say("email bob about rent");
  const conversation = await rig.holdfast.conversation("c");
  const reply = (await rig.of("message")).find(({ parentId }) => parentId === prompt);
  await conversation.goTo(reply?.id ?? "");
  return rig;
}

describe("what was done on a branch that was left", () => {
  test("is told as done there, and none of what was said", async () => {
    const rig = await left();
    expect(await rig.say("email bob about rent")).toContain("Already sent");
    expect(rig.world.outbox.count("email bob about rent")).toBe(1);
    const told = rig.transcripts().at(-1) ?? "";
    expect(told).toContain('> send_email {"to":"bob","about":"rent"}: done');
    expect(told).not.toContain("Sent the email");
    expect((await rig.of("attempt")).at(-1)?.priorContext).toMatchObject({ effects: 1 });
  });

  test("is told once to a session that was given the history of the branch", async () => {
    const rig = await left({ agents: [{ agent: "claude", restores: true }] });
    expect(await rig.say("email bob about rent")).toContain("Already sent");
    expect((await rig.of("attempt")).at(-1)).toMatchObject({
      fidelity: "transcript",
      priorContext: { effects: 1 },
    });
    await rig.say("hello");
    expect((await rig.of("attempt")).at(-1)?.priorContext).toBeUndefined();
    expect(rig.transcripts().at(-1)?.split("restored from its log")).toHaveLength(2);
  });

  test("is not told after a reset, nor when it was hidden", async () => {
    const rig = await left();
    const conversation = await rig.holdfast.conversation("c");
    const call = (await rig.of("message")).find(({ payload }) => payload.includes("toolCall"));
    await conversation.hide(call?.id ?? "");
    await rig.say("hello");
    expect(rig.transcripts().at(-1)).not.toContain("send_email");
    await conversation.hide(call?.id ?? "", false);
    await conversation.append({ type: "reset" });
    await rig.say("hello again");
    expect(rig.transcripts().at(-1)).not.toContain("send_email");
  });

  test("costs no reading where no branch was left", async () => {
    const read: string[] = [];
    const open = (): Store => {
      const store = inMemoryStore();
      const counted = (space: SpaceStore): SpaceStore => ({
        ...space,
        read: (request) => {
          read.push(...(request.types ?? []));
          return space.read(request);
        },
      });
      return { ...store, space: (id) => counted(store.space(id)) };
    };
    const rig = await aRig({ agents: TWO, open });
    await rig.say("email bob about rent");
    read.length = 0;
    await rig.send("hello", { agent: "codex" });
    expect(read).not.toContain("message");
  });
});
