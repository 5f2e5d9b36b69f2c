/** Scenarios 42 to 45: forks and edits leave the trunk alone, and what was cut off never reaches the model again. */
import { describe, expect, test } from "vitest";
import { forkAside, goBackTo } from "#upstream/sessions/fork-session";
import type { HostEvent } from "#turn/host";
import type { Capabilities, Upstream } from "#upstream/upstream";
import type { Conversation } from "#conversation/conversation";
import { aRig, type Rig } from "../rig.ts";

const FORKS: readonly Capabilities["fork"][] = ["none", "head", "message"];

async function told(
  fork: Capabilities["fork"],
): Promise<{ rig: Rig; chat: Conversation; upstream: Upstream }> {
  const rig = await aRig({
    agents: [
      { agent: "claude", account: "work", capabilities: { resume: true, fork, trustedResume: false } },
    ],
  });
  await rig.say("remember color=blue", "remember pet=cat");
  const [upstream] = rig.upstreams;
  if (upstream === undefined) throw new RangeError("A rig needs an agent");
  return { rig, chat: await rig.holdfast.conversation("c"), upstream };
}

async function promptIds(chat: Conversation): Promise<readonly string[]> {
  const branch = await chat.branch();
  return branch.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "user" ? [entry.id] : [],
  );
}

describe.each(FORKS)("with an agent that forks at %s", (fork) => {
  test("scenario 42: a fork at the head leaves the trunk as it was, is durable before its first prompt, and remembers", async () => {
    const { rig, chat, upstream } = await told(fork);
    const before = await Array.fromAsync(chat.log());
    const events: HostEvent[] = [];
    const host = { onEvent: (event: HostEvent) => void events.push(event) };
    const forked = await forkAside(chat, upstream, { id: "side", ...host });
    expect(forked.fidelity).toBe(fork === "none" ? "preamble" : "native");
    expect(events).toMatchObject([
      { type: "forked", conversation: "side", source: "c", fidelity: forked.fidelity },
    ]);
    expect((await rig.holdfast.conversation("side")).id).toBe("side");
    expect(await Array.fromAsync(chat.log())).toEqual(before);
    expect((await rig.send("recall color", { to: "side" })).text).toBe("blue");
    expect((await rig.send("remember color=red", { to: "side" })).outcome).toBe("completed");
    expect(await rig.say("recall color")).toBe("blue");
    expect(await Array.fromAsync(chat.log())).not.toEqual(before);
    const chain = await forked.conversation.chain();
    expect(chain.filter((link) => !link.inherited).map((link) => link.reason)).toEqual([
      fork === "none" ? "first" : "forked",
    ]);
  });

  test("scenario 42: a native fork is not told the history again", async () => {
    const { rig, chat, upstream } = await told(fork);
    await forkAside(chat, upstream, { id: "side" });
    await rig.send("recall pet", { to: "side" });
    const [attempt] = await rig.of("attempt", "side");
    expect(attempt?.fidelity).toBe(fork === "none" ? "preamble" : "native");
  });

  test("settings and notes behind the last answer say nothing to a model: a fork behind them is as native", async () => {
    const { rig, chat, upstream } = await told(fork);
    await chat.append([
      { type: "model_change", model: "large" },
      { type: "config_change", config: { mode: "plan" } },
      { type: "state_change", state: { step: 2 } },
      { type: "custom", customType: "note", data: "for people" },
    ]);
    const { fidelity } = await forkAside(chat, upstream, { id: "side" });
    expect(fidelity).toBe(fork === "none" ? "preamble" : "native");
    expect((await rig.send("recall pet", { to: "side" })).text).toBe("cat");
    const [attempt] = await rig.of("attempt", "side");
    expect(attempt?.fidelity).toBe(fidelity);
  });

  test("settings before an edited message say nothing to a model: the fork before them is as native", async () => {
    const { rig, chat, upstream } = await told(fork);
    await chat.append({ type: "model_change", model: "large" });
    await rig.say("remember late=yes");
    const { fidelity } = await goBackTo(chat, upstream, (await promptIds(chat))[2] ?? "");
    expect(fidelity).toBe(fork === "message" ? "native" : "preamble");
    expect(await rig.say("recall late")).toBe("I do not know late");
    expect((await rig.of("attempt")).at(-1)?.fidelity).toBe(fidelity);
  });

  test("scenario 43: the host dies between an in-place edit and its prompt; the branch resumes and the trunk still reads", async () => {
    const { rig, chat, upstream } = await told(fork);
    const [, second] = await promptIds(chat);
    const trunk = (await chat.head()).leaf.id;
    await goBackTo(chat, upstream, second ?? "");
    rig.restart();
    expect(await rig.say("recall pet")).toBe("I do not know pet");
    expect(await rig.say("recall color")).toBe("blue");
    const again = await rig.holdfast.conversation("c");
    expect((await again.context({ at: trunk })).messages).toHaveLength(4);
  });

  test("scenario 44: an upstream that cannot fork any more falls back, and says so", async () => {
    const { rig, chat, upstream } = await told(fork);
    for (const session of rig.world.sessions) rig.world.loseTranscript(session);
    rig.world.restartSilently("claude/work");
    const forked = await forkAside(chat, upstream, { id: "side" });
    expect(forked.fidelity).toBe("preamble");
    expect((await rig.send("recall color", { to: "side" })).text).toBe("blue");
  });

  test("scenario 45: after an edit no text of the later turns reaches the model, and nothing is destroyed", async () => {
    const { rig, chat, upstream } = await told(fork);
    const [, second] = await promptIds(chat);
    const before = await Array.fromAsync(chat.log());
    const { editable, fidelity } = await goBackTo(chat, upstream, second ?? "");
    expect(editable).toEqual([{ type: "text", text: "remember pet=cat" }]);
    expect(fidelity).toBe(fork === "message" ? "native" : "preamble");
    expect(await rig.say("remember pet=dog", "recall pet", "recall color")).toBe("blue");
    expect(await rig.say("recall pet")).toBe("dog");
    const last = rig.transcripts().at(-1) ?? "";
    expect(last).toContain("pet=dog");
    expect(last).not.toContain("pet=cat");
    expect((await Array.fromAsync(chat.log())).slice(0, before.length)).toEqual(before);
  });

  test("a fork at a reply keeps it, and never parts a tool call from its result", async () => {
    const { rig, chat, upstream } = await told(fork);
    await rig.say("email bob about rent", "remember late=yes");
    const branch = await chat.branch();
    const call = branch.find(
      (entry) => entry.type === "message" && entry.message.content.some((block) => block.type === "toolCall"),
    );
    const forked = await forkAside(chat, upstream, { id: "side", at: call?.id ?? "" });
    const { messages, issues } = await forked.conversation.context();
    expect(issues).toEqual([]);
    expect(messages.at(-1)?.role).toBe("toolResult");
    expect((await rig.send("email bob about rent", { to: "side" })).text).toContain("Already sent");
    expect(rig.world.outbox.count("email bob about rent")).toBe(1);
    expect((await rig.send("recall late", { to: "side" })).text).toBe("I do not know late");
  });
});

test("newChat: same conversation, nothing earlier reaches the model, history and chain stay", async () => {
  const { rig, chat } = await told("message");
  await chat.newChat();
  expect(await rig.say("recall color")).toBe("I do not know color");
  expect((await chat.branch()).length).toBeGreaterThan(4);
  expect(await chat.chain()).toHaveLength(2);
});

test("signOut, asked to keep the context: the account's ids are not resumed, the context stays", async () => {
  const { rig } = await told("message");
  await rig.holdfast.create({ id: "other" });
  await rig.send("remember x=1", { to: "other" });
  expect(await rig.holdfast.signOut("home")).toEqual({ ended: 0, reset: [], failed: [] });
  expect(await rig.holdfast.signOut({ account: "work", keepContext: true })).toMatchObject({
    ended: 2,
    reset: [],
  });
  rig.restart();
  expect(await rig.say("recall color")).toBe("blue");
  expect(rig.asked()).not.toContain("resume");
  expect(await rig.chain()).toEqual(["first", "sign_out"]);
});

test("popOut: a conversation of its own beside the first", async () => {
  const { rig, chat } = await told("message");
  const side = await chat.fork({ id: "side" });
  expect((await rig.send("recall color", { to: side.id })).text).toBe("blue");
  expect((await side.chain()).map((link) => link.inherited)).toEqual([true, false]);
});

test("a fork that is asked for twice under one key is one conversation with one session of its own", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  const [upstream] = rig.upstreams;
  if (upstream === undefined) throw new RangeError("no agent");
  const source = await rig.holdfast.conversation("c");
  const options = { key: "try-1", clock: rig.world.clock };
  const first = await forkAside(source, upstream, options);
  const again = await forkAside(source, upstream, options);
  expect([again.conversation.id, again.fidelity]).toEqual([first.conversation.id, "native"]);
  expect(rig.asked().filter((verb) => verb === "fork")).toHaveLength(1);
});

test("an agent that cuts where it is told to keeps the turns of a session that is hundreds of turns long", async () => {
  const { rig, chat, upstream } = await told("message");
  for (let turn = 0; turn < 200; turn++) await rig.say("remember color=red");
  const kept: (number | undefined)[] = [];
  const noted: Upstream = {
    ...upstream,
    fork: (id, settings, keepTurns) => {
      kept.push(keepTurns);
      return upstream.fork(id, settings, keepTurns);
    },
  };
  const prompts = await promptIds(chat);
  expect(await goBackTo(chat, noted, prompts.at(-1) ?? "")).toMatchObject({ fidelity: "native" });
  expect(kept).toEqual([prompts.length - 1]);
});
