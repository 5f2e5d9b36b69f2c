import { refusalText } from "#agent/tools/permissions";
/** A recorded agent with real effects, replayed in each mode: the outbox and the folder say what ran. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { replay } from "#agent/replay/replay-models";
import type { ReplayAgent, ReplayEvent, ReplayResult } from "#agent/replay/replay-options";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import type { ContentBlock } from "#log/message";
import { inMemoryStore } from "#stores/in-memory/index";
import type { Tool } from "#turn/effects/tool";
import { counter, said } from "../rig.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { call, recorded, WORK } from "./replay-rig.ts";

describe("a recorded agent of real effect", () => {
  test("replayed without effects: what has none runs, the rest says what it would do, and nothing is sent", async () => {
    const rig = await recorded();
    expect([rig.emails(), rig.runs()]).toEqual([1, 1]);
    writeFileSync(join(rig.folder, "out.txt"), "changed since");
    const before = [await rig.log(), (await rig.original.usage()).inputTokens];
    const result = await rig.replay(WORK);
    expect(result).toMatchObject({ outcome: "completed", sent: 2, prompts: 2, steps: 5, calls: 4 });
    expect([rig.emails(), rig.runs()]).toEqual([1, 1]);
    expect(readFileSync(join(rig.folder, "out.txt"), "utf8")).toBe("changed since");
    expect([await rig.log(), (await rig.original.usage()).inputTokens]).toEqual(before);
    const fork = await rig.holdfast.conversation(result.conversation);
    expect((await said(fork)).filter((line) => line.startsWith("toolResult"))).toEqual([
      "toolResult: remember the milk",
      "toolResult: Would write 14 characters to out.txt",
      "toolResult: Would run: echo ran >> ran.txt",
      "toolResult: Would be sent to a@example.org",
    ]);
    expect(result).toMatchObject({ divergence: null, textDiffers: false });
    expect((await fork.facts(["tool_intent"])).length).toBe(0);
  });

  test("replayed by its record: every call is answered as it was, by name, arguments and occurrence", async () => {
    const rig = await recorded();
    writeFileSync(join(rig.folder, "notes.txt"), "changed since");
    const result = await rig.replay(WORK, { tools: "recorded" });
    expect([rig.emails(), rig.runs()]).toEqual([1, 1]);
    const fork = await rig.holdfast.conversation(result.conversation);
    expect(await said(fork)).toEqual(await said(rig.original));
    expect(result).toMatchObject({ outcome: "completed", missed: [], divergence: null });
  });

  test("a call that the record does not have is a divergence: the model is told so, and the replay goes on", async () => {
    const rig = await recorded();
    const result = await rig.replay(
      [
        call("1", "read", { path: "notes.txt" }),
        call("2", "read", { path: "notes.txt" }),
        call("3", "shell", { command: "rm -r ." }),
        { text: "Prepared." },
        call("4", "ComposeEmail", { body: "It is.", subject: "Done", to: "a@example.org" }),
      ],
      { tools: "recorded" },
    );
    expect(result.outcome).toBe("completed");
    expect(result.missed).toEqual([
      { name: "read", input: { path: "notes.txt" } },
      { name: "shell", input: { command: "rm -r ." } },
    ]);
    expect(rig.events.filter(({ type }) => type === "missed").length).toBe(2);
    expect(result.divergence).toMatchObject({ kind: "call", b: { name: "read" } });
    const turns = rig.events.filter((event) => event.type === "turn");
    expect(turns.map(({ divergence }) => divergence === null)).toEqual([false, true]);
    expect(readdirSync(rig.folder)).toContain("notes.txt");
  });

  test("replayed live, every effect is asked for again, whatever was allowed before", async () => {
    const rig = await recorded();
    const asked: string[] = [];
    const result = await rig.replay(WORK, {
      tools: "live",
      onPermission: async ({ tool }) => {
        asked.push(tool);
        return tool === "shell" ? "allow" : "deny";
      },
    });
    expect(asked).toEqual(["write", "shell", "ComposeEmail"]);
    expect([rig.emails(), rig.runs()]).toEqual([1, 2]);
    expect(result.sent).toBe(2);
  });

  test("replayed live where nobody can be asked, every effect is refused", async () => {
    const rig = await recorded();
    const result = await rig.replay(WORK, { tools: "live" });
    expect([rig.emails(), rig.runs()]).toEqual([1, 1]);
    expect(result).toMatchObject({ outcome: "completed", sent: 2 });
  });
});

test("a tool with an effect and no dry run is told as not run, by its name, and the replay goes on", async () => {
  const rig = await recorded();
  const pay = counter("pay");
  const result = await rig.replay([call("1", "pay", {}), { text: "Prepared." }, { text: "Sent." }], {
    agent: { tools: [pay, ...rig.tools], permission: () => "allow", instructions: false },
  });
  expect(pay.runs).toEqual([]);
  const fork = await rig.holdfast.conversation(result.conversation);
  const results = (await fork.branch()).flatMap((node) =>
    node.type === "message" && node.message.role === "toolResult" ? [node.message] : [],
  );
  expect(results).toMatchObject([{ isError: true, content: [{ text: expect.stringContaining("pay") }] }]);
  expect(result).toMatchObject({ outcome: "completed", sent: 2 });
});

test("the rules of the agent hold in a replay without effects: what is forbidden stays so, and looking elsewhere is asked for", async () => {
  const rig = await recorded();
  const asked: string[] = [];
  const rules = [
    { tool: "read", inside: true, decision: "allow" },
    { tool: "shell", decision: "deny" },
  ] as const;
  const agent = { tools: rig.tools, permission: { rules, otherwise: "ask" }, instructions: false } as const;
  const script = [
    call("1", "read", { path: "notes.txt" }),
    call("2", "read", { path: "/etc/hostname" }),
    call("3", "shell", { command: "echo ran >> ran.txt" }),
    call("4", "write", { path: "out.txt", content: "x" }),
    { text: "Prepared." },
    { text: "Sent." },
  ];
  const { conversation } = await rig.replay(script, {
    agent,
    onPermission: async ({ tool }) => {
      asked.push(tool);
      return "deny";
    },
  });
  expect(asked).toEqual(["read"]);
  const results = (await said(await rig.holdfast.conversation(conversation))).filter((line) =>
    line.startsWith("toolResult"),
  );
  expect(results[0]).toBe("toolResult: remember the milk");
  expect(results[2]).toContain(refusalText("shell", "rule"));
  expect(results[3]).toContain("Would write");
});

test("by the record a call is known by what the model sent, not by what the tool's schema makes of it; images come along", async () => {
  const rig = await recorded();
  const picture = { type: "image", mediaType: "image/png", data: Buffer.from("pixels").toString("base64") };
  const look: Tool = {
    name: "look",
    effect: "none",
    input: {
      "~standard": {
        version: 1,
        vendor: "own",
        validate: (value) => ({ value: { depth: 3, ...Object(value) } }),
      },
    },
    inputSchema: { type: "object", properties: { at: { type: "string" } } },
    run: async () => ({ content: [picture as ContentBlock] }),
  };
  const script = [call("1", "look", { at: "." }), { text: "Seen." }];
  const original = await rig.holdfast.create({ id: "looked" });
  const agent = { tools: [look], instructions: false };
  const asked = new ScriptedModel(script);
  await using first = new Agent(rig.holdfast, { ...agent, model: asked });
  await first.send(original, [{ type: "text", text: "Look" }, picture as ContentBlock]);
  const model = new ScriptedModel(script, "two");
  const [result] = await replay(
    rig.holdfast,
    { conversation: "looked" },
    { models: [model], agent, tools: "recorded" },
  );
  expect(result).toMatchObject({ missed: [], divergence: null, outcome: "completed" });
  const images = (of: ScriptedModel): readonly number[] =>
    of.asked.map(({ prompt }) => JSON.stringify(prompt).split("image/png").length);
  expect(images(model)).toEqual(images(asked));
});

/** A tool that gives state, and one whose details say more beside it. */
const VISITS: Tool = {
  name: "visit",
  run: async (input) => ({
    content: "Visited",
    details: { input },
    state: { visits: [input], left: null },
  }),
};

/** A recorded conversation with a tool that changes the state, and its replay by the record. */
async function visited(script: ConstructorParameters<typeof ScriptedModel>[0]): Promise<{
  readonly original: Conversation;
  readonly holdfast: Holdfast;
  replay(): Promise<{ readonly result: ReplayResult; readonly fork: Conversation }>;
}> {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const original = await holdfast.create({ id: "visited" });
  const agent: ReplayAgent = { tools: [VISITS], permission: () => "allow", instructions: false };
  await using first = new Agent(holdfast, { ...agent, model: new ScriptedModel(script) });
  await first.send(original, "Visit them");
  return {
    original,
    holdfast,
    replay: async () => {
      const models = [new ScriptedModel(script, "two")];
      const [result] = await replay(
        holdfast,
        { conversation: original.id },
        { models, agent, tools: "recorded" },
      );
      if (result === undefined) throw new Error("no result");
      return { result, fork: await holdfast.conversation(result.conversation) };
    },
  };
}

test("by the record a tool that returned state gives the same result, details and state again", async () => {
  const rig = await visited([
    call("1", "visit", { at: "a" }),
    call("2", "visit", { at: "b" }),
    { text: "Done." },
  ]);
  const { result, fork } = await rig.replay();
  const results = async (of: Conversation): Promise<readonly unknown[]> =>
    (await of.branch()).flatMap((node) =>
      node.type === "message" && node.message.role === "toolResult"
        ? [[node.message.isError, node.message.content, node.message.details]]
        : [],
    );
  expect(await results(fork)).toEqual(await results(rig.original));
  expect((await fork.settings()).state).toEqual({ visits: [{ at: "b" }] });
  expect(result).toMatchObject({ outcome: "completed", missed: [], divergence: null });
});

test("by the record a call that gives something else than it gave is a divergence", async () => {
  const rig = await visited([call("1", "visit", { at: "a" }), { text: "Done." }]);
  // Its result is nowhere, as after an import of a log that broke off.
  const asked = await rig.holdfast.create({ id: "asked" });
  await asked.append([
    { type: "message", message: { role: "user", content: [{ type: "text", text: "Visit it" }] } },
    {
      type: "message",
      message: {
        role: "assistant",
        content: [{ type: "toolCall", id: "1", name: "visit", input: { at: "a" } }],
      },
    },
  ]);
  const models = [new ScriptedModel([call("1", "visit", { at: "a" }), { text: "Done." }], "two")];
  const events: ReplayEvent[] = [];
  const [result] = await replay(
    rig.holdfast,
    { conversation: "asked" },
    {
      models,
      agent: { tools: [VISITS], instructions: false },
      tools: "recorded",
      onEvent: (event) => void events.push(event),
    },
  );
  expect(result).toMatchObject({ divergence: { kind: "result", a: { result: null } } });
  expect(result?.missed.length).toBe(1);
  expect(events.find(({ type }) => type === "turn")).toMatchObject({ divergence: { kind: "result" } });
});

test("a replay is answered by the model that it names and by no fallback of the agent", async () => {
  const rig = await visited([{ text: "Done." }]);
  const busy = new ScriptedModel([{ error: Object.assign(new Error("no"), { statusCode: 402 }) }], "two");
  const agent = { fallbackModels: ["sim"], instructions: false } as ReplayAgent;
  const [result] = await replay(rig.holdfast, { conversation: "visited" }, { models: [busy], agent });
  expect(result).toMatchObject({ model: "scripted/two", outcome: "failed", class: "credit" });
});
