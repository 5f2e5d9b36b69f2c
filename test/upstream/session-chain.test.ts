/** Scenarios 1 to 10 of the field reports: the chain of upstream ids and the context that is carried along it. */
import { expect, test } from "vitest";
import { aRig, isText } from "./rig.ts";

test("the classic: turn 1 on A, rolled to B at turn 2, to C at turn 3, and turn 4 knows turn 1", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.script({ kind: "expire", phase: "start" });
  await rig.say("hello");
  rig.script({ kind: "expire", phase: "start" });
  await rig.say("how are you");
  expect(await rig.say("recall color")).toBe("blue");
  expect(await rig.chain()).toEqual(["first", "expired", "expired"]);
});

test("scenario 1: A dies, then B: what C is told holds the turns of A and B, once and in order", async () => {
  const rig = await aRig();
  await rig.say("remember a=1");
  rig.script({ kind: "expire", phase: "start" });
  await rig.say("remember b=2");
  rig.script({ kind: "expire", phase: "start" });
  await rig.say("remember c=3");
  const told = rig.transcripts().at(-1) ?? "";
  for (const words of ["remember a=1", "Noted a=1", "remember b=2", "Noted b=2"])
    expect(told.split(words)).toHaveLength(2);
  expect(told.indexOf("remember a=1")).toBeLessThan(told.indexOf("remember b=2"));
  expect(told.indexOf("Noted b=2")).toBeLessThan(told.indexOf("remember c=3"));
});

test("scenario 2: a first prompt that fails before there is an id is restored later all the same", async () => {
  const rig = await aRig();
  rig.script({ kind: "limit", phase: "open", resetMs: 1_000 });
  expect(await rig.send("remember color=blue")).toMatchObject({
    outcome: "failed",
    class: "limit",
    upstream: null,
  });
  await rig.world.timeline.pass(2_000);
  await rig.say("hello");
  rig.script({ kind: "expire", phase: "start" });
  expect(await rig.say("recall color")).toBe("blue");
});

test("scenario 3: a first prompt that is limited leaves a durable id, and the next send goes to it", async () => {
  const rig = await aRig();
  rig.script({ kind: "limit", phase: "start", resetMs: 1_000 });
  const { upstream } = await rig.send("remember color=blue");
  expect(await rig.chain()).toEqual(["first"]);
  rig.restart();
  await rig.world.timeline.pass(2_000);
  expect(await rig.send("recall color")).toMatchObject({ text: "blue", upstream });
  expect(rig.asked()).toEqual(["resume", "prompt"]);
});

test("scenario 4: after 40 rollovers every turn is in the log and what is told stays bounded", async () => {
  const rig = await aRig();
  for (let turn = 0; turn < 40; turn++) {
    await rig.say(`remember k${turn}=v${turn}`);
    rig.script({ kind: "expire", phase: "start" });
  }
  expect(await rig.say("recall k35")).toBe("v35");
  expect(await rig.chain()).toHaveLength(41);
  const messages = await rig.of("message");
  expect(messages).toHaveLength(82);
  const told = rig.transcripts().at(-1) ?? "";
  expect(told.match(/The user said:/g)).toHaveLength(40);
  const { from } = (await rig.of("attempt")).at(-1)?.priorContext ?? {};
  expect(from).toBe(messages[0]?.id);
});

test("scenario 5: two conversations that roll over side by side do not hear each other", async () => {
  const rig = await aRig();
  await rig.create("d");
  await Promise.all([rig.send("remember color=blue"), rig.send("remember color=red", { to: "d" })]);
  rig.script({ kind: "expire", phase: "start", times: 2 });
  await Promise.all([rig.send("work 5"), rig.send("work 7", { to: "d" })]);
  const [c, d] = await Promise.all([rig.send("recall color"), rig.send("recall color", { to: "d" })]);
  expect([c.text, d.text]).toEqual(["blue", "red"]);
  for (const told of rig.transcripts()) expect(told.includes("=blue") && told.includes("=red")).toBe(false);
});

test("scenario 6: after a new chat nothing from before reaches the agent, and the history still has it", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue", "remember shape=round");
  await (await rig.holdfast.conversation("c")).newChat();
  expect(await rig.say("recall color")).toBe("I do not know color");
  expect(await rig.chain()).toEqual(["first", "new_chat"]);
  rig.script({ kind: "expire", phase: "start" });
  expect(await rig.say("recall shape")).toBe("I do not know shape");
  const messages = await rig.of("message");
  expect(messages).toHaveLength(8);
  expect(rig.told("session").filter((event) => !event.silent && event.restored > 4)).toEqual([]);
});

test("scenario 6: a turn cut off before a new chat does not come back after it", async () => {
  const rig = await aRig();
  let pieces = 0;
  await rig.dieDuring("remember color=blue; work 19", (event) => isText(event) && ++pieces > 9);
  await rig.world.timeline.pass(60_000);
  await (await rig.holdfast.conversation("c")).newChat();
  expect(await rig.say("recall color")).toBe("I do not know color");
  const branch = await (await rig.holdfast.conversation("c")).branch();
  expect(branch.map((node) => (node.type === "message" ? node.message.role : node.type))).toEqual([
    "conversation",
    "user",
    "reset",
    "user",
    "assistant",
  ]);
  expect(
    (await rig.of("message")).filter(
      ({ message }) => message.role === "assistant" && message.stopReason === "interrupted",
    ),
  ).toHaveLength(1);
});

test("scenario 7: an id that comes back is a link of its own, and one that stays is none", async () => {
  const rig = await aRig({ agents: [{ agent: "claude" }, { agent: "codex" }] });
  await rig.send("remember color=blue");
  await rig.send("hello", { agent: "codex" });
  await rig.send("hello again", { agent: "claude" });
  const conversation = await rig.holdfast.conversation("c");
  const chain = await conversation.chain();
  expect(chain.map((link) => `${link.agent} ${link.reason}`)).toEqual([
    "claude first",
    "codex agent_switch",
    "claude switched_back",
  ]);
  await rig.send("once more", { agent: "claude" });
  expect(await conversation.chain()).toHaveLength(3);
});

test("scenario 8: claude, codex, claude: one chain, a head for each, and the context goes along", async () => {
  const rig = await aRig({ agents: [{ agent: "claude" }, { agent: "codex" }] });
  const first = await rig.send("remember color=blue");
  expect((await rig.send("recall color", { agent: "codex" })).text).toBe("blue");
  await rig.send("remember shape=round", { agent: "codex" });
  const back = await rig.send("recall shape", { agent: "claude" });
  expect(back).toMatchObject({ text: "round", upstream: first.upstream });
  expect(rig.told("session").map((event) => `${event.reason} ${event.fidelity}`)).toEqual([
    "first native",
    "agent_switch preamble",
    "switched_back preamble",
  ]);
});

test("scenario 8: another account of the same agent has a head of its own", async () => {
  const rig = await aRig({
    agents: [
      { agent: "claude", account: "work" },
      { agent: "claude", account: "home" },
    ],
  });
  const work = await rig.send("remember color=blue", { account: "work" });
  const home = await rig.send("recall color", { account: "home" });
  expect(home.text).toBe("blue");
  expect(home.upstream).not.toBe(work.upstream);
  expect((await rig.send("hello", { account: "work" })).upstream).toBe(work.upstream);
});

test("scenario 9: reopened after a restart a conversation has its whole chain, and its head is resumed", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.script({ kind: "expire", phase: "start" });
  const { upstream } = await rig.send("hello");
  rig.restart();
  expect(await rig.chain()).toEqual(["first", "expired"]);
  expect(await rig.send("recall color")).toMatchObject({ text: "blue", upstream });
  expect(rig.asked()).toEqual(["resume", "prompt"]);
});

test("scenario 10: killed after a turn began, it is marked interrupted, keeps its words, and is not sent again", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  let pieces = 0;
  await rig.dieDuring("work 20", (event) => isText(event) && ++pieces === 12);
  expect(await rig.say("recall color")).toBe("blue");
  const [, cut] = await rig.of("turn_end");
  expect(cut).toMatchObject({ outcome: "interrupted", class: "crashed" });
  const replies = (await rig.of("message")).filter(({ message }) => message.role === "assistant");
  expect(replies[1]?.message).toMatchObject({ stopReason: "interrupted", content: [{ type: "text" }] });
  expect(JSON.stringify(replies[1]?.message)).toContain("Step 5 of 20");
  expect(
    rig
      .transcripts()
      .join("\n")
      .match(/user: work 20/g),
  ).toHaveLength(1);
});

test("scenario 10: killed between the acceptance and the first word, the prompt is kept and not sent again", async () => {
  const rig = await aRig();
  await rig.dieDuring("email bob about rent", (event) => event.type === "accepted");
  expect(await rig.say("hello")).toContain("hello");
  expect(rig.world.outbox.all).toEqual([]);
  expect((await rig.of("turn_end")).map((end) => end.outcome)).toEqual(["interrupted", "completed"]);
});

test("a fork lists the sessions its own branch was carried by, and none that its source began after it", async () => {
  const rig = await aRig();
  await rig.say("remember a=1");
  rig.script({ kind: "expire", phase: "start" });
  await rig.say("remember b=2");
  const source = await rig.holdfast.conversation("c");
  const first = (await source.branch()).find(
    (entry) => entry.type === "message" && entry.message.role === "assistant",
  );
  const at = first?.id ?? "";
  const fork = await source.fork({ id: "early", at });
  const late = await source.fork({ id: "late" });
  const twig = await late.fork({ id: "twig", at });
  rig.script({ kind: "expire", phase: "start" });
  await rig.say("remember c=3");
  const reasons = async ({ id }: { readonly id: string }): Promise<readonly string[]> => rig.chain(id);
  expect(await reasons(source)).toEqual(["first", "expired", "expired"]);
  expect(await reasons(late)).toEqual(["first", "expired"]);
  expect(await reasons(fork)).toEqual(["first"]);
  expect(await reasons(twig)).toEqual(["first"]);
  const [held] = await fork.chain();
  expect(held?.carried?.toSeq).toBe(first?.seq);
});

test("a link outlives a thousand facts: the same id is used after 200 turns", async () => {
  const rig = await aRig();
  const { upstream } = await rig.send("remember color=blue");
  for (let turn = 0; turn < 200; turn++) await rig.say(`note ${turn}`);
  expect(await rig.send("recall color")).toMatchObject({ text: "blue", upstream });
  rig.restart();
  expect(await rig.send("recall color")).toMatchObject({ text: "blue", upstream });
});
