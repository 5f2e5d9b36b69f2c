/** Whole turns with the real package of each kind of provider, over the scripted server on loopback. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AgentOptions } from "#agent/agent-options";
import type { AgentModel } from "#agent/models/model";
import { openModel } from "#agent/models/open-model";
import type { Conversation } from "#conversation/conversation";
import { inMemoryBacking } from "#stores/in-memory/index";
import { agentRig, counter, said } from "../rig.ts";
import { HurriedClock, WIRE_MODELS, WIRES, wireAgent } from "../wire-rig.ts";
import { type ModelServer, startModelServer } from "../../support/model-server.ts";
import type { ScriptedAnswer } from "../../support/model-server/scripted-answer.ts";
import { finish, model, type Part } from "../../support/streamed-model.ts";

let server: ModelServer;
beforeAll(async () => void (server = await startModelServer()));
afterAll(() => server.close());
let first = 0;
beforeEach(() => void (first = server.requests.length));
const sent = (): readonly string[] => server.requests.slice(first).map(({ body }) => body);

const facts = async (chat: Conversation, type: "attempt" | "attempt_end"): Promise<readonly unknown[]> =>
  chat.facts([type]);

describe.each(WIRES)("over the wire of %s", (wire) => {
  test("a model that is handed in is asked in every turn, and by whoever is handed it next, whatever keys there are", async () => {
    const env = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", GOOGLE_GENERATIVE_AI_API_KEY: "k" };
    const handed = (): Promise<AgentModel> =>
      openModel(WIRE_MODELS[wire], { env, baseUrl: server.baseUrl(wire) });
    const backing = inMemoryBacking();
    const onlyHanded: AgentOptions["openModel"] = (given) => openModel(given, { env: {} });
    for (const nth of [1, 2]) {
      server.add({ text: `answer ${nth}a` }, { text: `answer ${nth}b` });
      const { model: object } = await handed();
      const { agent, holdfast } = wireAgent(server, wire, { backing, model: object, openModel: onlyHanded });
      const chat = nth === 1 ? await holdfast.create({ id: "c" }) : await holdfast.conversation("c");
      expect((await agent.restore(chat)).missing).toEqual([]);
      expect(await agent.send(chat, "one")).toMatchObject({ text: `answer ${nth}a` });
      expect(await agent.send(chat, "two")).toMatchObject({ text: `answer ${nth}b` });
    }
  });

  test("words, thinking and two steps of tools make a turn, and everything used is counted", async () => {
    const look = counter("look");
    const { agent, holdfast } = wireAgent(server, wire, { tools: [look] });
    const chat = await holdfast.create({ id: "c" });
    server.add(
      { thinking: { text: "where to look", signature: "c2ln" }, calls: [{ name: "look", input: { at: 1 } }] },
      {
        text: "Once more.",
        calls: [
          { name: "look", input: { at: 2 } },
          { name: "look", input: { at: 3 } },
        ],
      },
      { text: ["All ", "seen."] },
    );
    const streamed: string[] = [];
    const result = await agent.send(chat, "look", {
      onEvent: ({ type, ...more }) => {
        if (type === "update" && "event" in more && more.event.type === "text")
          streamed.push(more.event.text);
      },
    });
    expect(result).toMatchObject({ outcome: "completed", text: "All seen.", steps: 3 });
    expect(streamed.join("")).toBe("Once more.All seen.");
    expect(look.runs).toEqual([{ at: 1 }, { at: 2 }, { at: 3 }]);
    expect((await said(chat)).map((line) => line.split(":")[0])).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
      "toolResult",
      "toolResult",
      "assistant",
    ]);
    expect(sent()[1]).toContain("where to look");
    expect(sent()[2]).toContain("look 3");
    const total = await chat.usage();
    expect(total).toMatchObject({
      outputTokens: result.usage.outputTokens,
      inputTokens: result.usage.inputTokens,
    });
    expect(result.usage.outputTokens).toBeGreaterThan(0);
    expect(await chat.openTurn()).toBeNull();
  });

  test("an image of a person reaches the model as bytes and the log as a blob", async () => {
    const { agent, holdfast } = wireAgent(server, wire);
    const chat = await holdfast.create({ id: "c" });
    server.add({ text: "A dot." });
    const data = Buffer.from("a dot of light").toString("base64");
    await agent.send(chat, [
      { type: "text", text: "see" },
      { type: "image", mediaType: "image/png", data },
    ]);
    expect(sent()[0]).toContain(data);
    const log = JSON.stringify(await chat.branch());
    expect(log).not.toContain(data);
  });

  test("a service that fails is asked again after a pause, with the same bytes, and every attempt is in the log", async () => {
    const clock = new HurriedClock();
    const { agent, holdfast } = wireAgent(server, wire, { clock });
    const chat = await holdfast.create({ id: "c" });
    server.add(
      { fail: { kind: "status", status: 529 } },
      { text: ["half ", "of ", "it "], fail: { kind: "cut", when: "middle" } },
      { text: "whole" },
    );
    const result = await agent.send(chat, "go");
    expect(result).toMatchObject({ outcome: "completed", text: "whole", steps: 1 });
    expect(clock.waited.filter((ms) => ms >= 1_000)).toEqual([1_000, 2_000]);
    expect(new Set(sent()).size).toBe(1);
    expect(sent()).toHaveLength(3);
    expect(await facts(chat, "attempt")).toHaveLength(3);
    expect(await said(chat)).toEqual(["user: go", "assistant: whole"]);
  });

  test("a line that is no part of an answer, wherever it comes, and a short limit cost a pause and no turn", async () => {
    const limited = (seconds: number): ScriptedAnswer => ({
      fail: {
        kind: "status",
        status: 429,
        type: "rate_limit_error",
        headers: { "retry-after": `${seconds}` },
      },
    });
    const clock = new HurriedClock("2026-11-18");
    const { agent, holdfast } = wireAgent(server, wire, { clock, waitForLimitMs: 5_000 });
    const chat = await holdfast.create({ id: "c" });
    const text = ["half ", "of ", "it"];
    server.add(limited(3), { text, fail: { kind: "malformed", when: "first" } });
    server.add({ text, fail: { kind: "malformed" } }, { text: "whole" });
    expect(await agent.send(chat, "go")).toMatchObject({ outcome: "completed", text: "whole" });
    expect(clock.waited.filter((ms) => ms >= 1_000)).toEqual([3_000, 2_000, 4_000]);
    expect(await said(chat)).toEqual(["user: go", "assistant: whole"]);
    server.add(limited(6));
    expect(await agent.send(chat, "and on")).toMatchObject({
      outcome: "failed",
      class: "limit",
      resetAtMs: Date.parse("2026-11-18T00:00:06Z"),
    });
  });

  test("what a failed and a cancelled attempt used is counted, where the service said it", async () => {
    const { agent, holdfast } = wireAgent(server, wire);
    const chat = await holdfast.create({ id: "c" });
    const name = `cancel ${wire}`;
    server.add({ text: ["one ", "two ", "three "], hold: { at: "middle", name } });
    const turn = agent.send(chat, "go ".repeat(200), {
      onEvent: (event) =>
        event.type === "update" && event.event.type === "text" && void agent.cancel(chat.id),
    });
    await server.held(name);
    const result = await turn;
    server.release(name);
    expect(result).toMatchObject({ outcome: "interrupted", class: "cancelled" });
    expect((await said(chat)).at(-1)).toContain("one");
    // Only this service says at the beginning what it has read.
    const ended = wire === "anthropic" ? [{ class: "cancelled", model: WIRE_MODELS[wire] }] : [];
    expect(await facts(chat, "attempt_end")).toMatchObject(ended);
    const total = await chat.usage();
    expect(total.inputTokens ?? 0).toBe(result.usage.inputTokens ?? 0);
    server.add({ text: "on" });
    expect(await agent.continue(chat)).toMatchObject({ outcome: "completed", text: "on" });
  });

  test.each(WIRES.filter((other) => other !== wire))(
    "in mid-conversation %s takes over: all words and results, no foreign thinking, no signature",
    async (other) => {
      const look = counter("look");
      const { agent, holdfast } = wireAgent(server, wire, { tools: [look] });
      const chat = await holdfast.create({ id: "c" });
      const thinking = { text: "secret thoughts", signature: "c2lnbmVk" };
      server.add(
        { thinking, text: "Looking.", calls: [{ name: "look", input: { at: "home" } }] },
        { text: "Seen." },
        { text: "Mine now." },
        { text: "Back." },
      );
      await agent.send(chat, "look");
      const taken = await agent.send(chat, "and you?", { model: WIRE_MODELS[other] });
      expect(taken).toMatchObject({ outcome: "completed", text: "Mine now.", model: WIRE_MODELS[other] });
      const [, , third = ""] = sent();
      expect(server.requests.at(-1)?.wire).toBe(other);
      for (const word of ["Looking.", "home", "look 1", "Seen.", "and you?"]) expect(third).toContain(word);
      for (const word of ["secret thoughts", "c2lnbmVk"]) expect(third).not.toContain(word);
      await agent.send(chat, "back", { model: WIRE_MODELS[wire] });
      expect(sent()[3]).toContain("secret thoughts");
      expect(sent()[3]).toContain("Mine now.");
    },
  );
});

test("a file that a model makes is kept as a blob, is an answer, and its bytes are not in the log", async () => {
  const data = Buffer.from("drawn by the model").toString("base64");
  const drawing: Part = { type: "file", mediaType: "image/png", data: { type: "data", data } };
  const drawn = model(async () => ({ stream: ReadableStream.from([drawing, finish("stop")]) }));
  const at = await agentRig([], { model: drawn });
  const result = await at.agent.send("c", "draw");
  expect(result).toMatchObject({ outcome: "completed", class: "completed", text: "" });
  const [, answer] = (await at.conversation.context()).messages;
  const [block] = answer?.content ?? [];
  expect(block?.type).toBe("image");
  const blob = block?.type === "image" ? (block.blob ?? "") : "";
  expect(Buffer.from(await at.conversation.getBlob(blob)).toString()).toBe("drawn by the model");
  expect(JSON.stringify(await at.conversation.branch())).not.toContain(data);
});

test("an answer of thinking alone is asked for once more, and then shown as empty", async () => {
  const at = await agentRig([{ thinking: "hm" }, { thinking: "hm hm" }]);
  expect(await at.agent.send("c", "hi")).toMatchObject({ outcome: "completed", class: "empty" });
  expect(at.model.asked).toHaveLength(2);
  const total = await at.conversation.usage();
  expect(total).toMatchObject({ inputTokens: 200, outputTokens: 20 });
});

test("an answer that was cut at the output limit is kept, and its turn says so", async () => {
  const at = await agentRig([{ text: "half of the", finish: "length" }]);
  const { message, class: known, text } = await at.agent.send("c", "hi");
  expect([known, text]).toEqual(["completed", "half of the"]);
  expect(message).not.toBe("");
  const [reply] = (await at.conversation.branch()).flatMap((entry) =>
    entry.type === "message" && entry.message.role === "assistant" ? [entry.message] : [],
  );
  expect(reply?.stopReason).toBe("maxTokens");
});
