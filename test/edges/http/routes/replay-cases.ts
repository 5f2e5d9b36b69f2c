import { expect, test } from "vitest";
import type { AgentModel } from "#agent/models/model";
import { openModel } from "#agent/models/open-model";
import type { Holdfast } from "#conversation/holdfast";
import { createClient } from "#edges/http/client/index";
import type { ReplayEventView } from "#edges/http/client/views";
import { assistant, toolResult, user } from "#log/message";
import type { Tool } from "#turn/effects/tool";
import { ScriptedModel } from "../../../agent/scripted-model.ts";
import { handClock, serve, type Served, URL_HERE } from "../served.ts";
import { spaceOf } from "#conversation/on-space";

type Script = ConstructorParameters<typeof ScriptedModel>[0];

/** A server with two models to replay with and a tool that has an effect, and a conversation `c` with two prompts. */
async function withReplays(
  open: () => Promise<Holdfast>,
  scripts: { readonly [model: string]: Script },
  more: Parameters<typeof serve>[0] = {},
): Promise<{ readonly served: Served; readonly posted: string[] }> {
  const posted: string[] = [];
  const post: Tool = {
    name: "post",
    description: "Posts a letter.",
    dryRun: async (input) => `would post ${JSON.stringify(input)}`,
    run: async (input) => {
      posted.push(JSON.stringify(input));
      return "posted";
    },
  };
  const models = new Map(Object.entries(scripts).map(([id, script]) => [id, new ScriptedModel(script, id)]));
  const openOne = async (id: unknown): Promise<AgentModel> => {
    const model = models.get(String(id));
    return openModel(model ?? String(id));
  };
  const agent = { tools: [post], openModel: openOne, permission: () => "ask" as const, instructions: false };
  const served = await serve({
    holdfast: await open(),
    replays: { models: [...models.keys()], agent: () => agent },
    ...more,
  });
  const conversation = await served.holdfast.create({ id: "c", title: "Letters" });
  await conversation.append([
    { type: "run_start", run: "r1", trigger: "email" },
    user("Post the first"),
    {
      type: "message",
      message: {
        role: "assistant",
        content: [{ type: "toolCall", id: "c1", name: "post", input: { letter: 1 } }],
        model: "x/y",
      },
    },
    toolResult("c1", "posted"),
    assistant("Done"),
    { ...user("Thanks"), id: "thanks" },
    { ...assistant("Welcome"), id: "last" },
  ]);
  return { served, posted };
}

const CALL = { calls: [{ id: "n1", name: "post", input: { letter: 1 } }] };
const OTHER = { calls: [{ id: "n1", name: "post", input: { letter: 2 } }] };
const SAME: Script = [CALL, { text: "Done" }, { text: "Welcome" }];

async function all(events: AsyncIterable<ReplayEventView>): Promise<readonly ReplayEventView[]> {
  return Array.fromAsync(events);
}

/** Replays over HTTP, on one kind of store. */
export function replayCases(kind: string, open: () => Promise<Holdfast>): void {
  test(`${kind}: prompts are sent once more without effects; each event says how far it is, and the result what is other`, async () => {
    const { served, posted } = await withReplays(open, {
      one: SAME,
      two: [OTHER, { text: "Hm" }, { text: "So" }],
    });
    await using _ = served;
    const client = served.client(await served.token("write"));
    const before = await client.listEntries({ conversation: "c" });
    const ask = { conversation: "c", at: "last", models: ["one", "two"] };
    const begun = await client.startReplay(ask, { key: "k" });
    expect(begun.plan).toMatchObject({ prompts: 2, tools: "dry-run", source: { conversation: "c" } });
    const { replay } = begun;
    expect(begun.title).toBe("Replay of Letters");
    const events = await all(client.replayEvents({ replay }));
    const ofOne = "forked prompt turn prompt turn ended";
    expect(events.map(({ event }) => event.type).join(" ")).toBe(`planned ${ofOne} ${ofOne}`);
    expect(events.map(({ progress: at }) => `${at.model}/${at.models} ${at.turn}/${at.turns}`)).toContain(
      "2/2 1/2",
    );
    expect(events.at(-1)?.progress).toMatchObject({ matched: 3, diverged: 1, turn: 2 });
    const done = await client.getReplay({ replay });
    expect(done).toMatchObject({
      status: "completed",
      results: [
        { model: "scripted/one", outcome: "completed", divergence: null },
        { model: "scripted/two", divergence: { a: { input: { letter: 1 } }, b: { input: { letter: 2 } } } },
      ],
      diffs: [{ divergence: { kind: "result" } }, { same: false, divergence: { kind: expect.any(String) } }],
    });
    expect(posted).toEqual([]);
    // The original is as it was; under its key it is the same replay, told again from any event on.
    expect(await client.listEntries({ conversation: "c" })).toEqual(before);
    expect((await client.startReplay(ask, { key: "k" })).replay).toBe(replay);
    const { replays } = await client.listReplays();
    expect(replays.map(({ replay: one, status }) => [one, status])).toEqual([[replay, "completed"]]);
    const runs = await client.listRuns({ trigger: "replay" });
    expect(runs.runs).toHaveLength(2);
    // Lists do not show its log.
    const listed = (await client.listConversations()).conversations.map(({ title }) => title);
    expect(listed).not.toContain(begun.title);
    expect(await all(client.replayEvents({ replay, after: 10_000 }))).toEqual([]);
    const ofRun = await client.startReplay({ run: "r1", models: ["one"] });
    expect(ofRun.plan.source.run).toBe("r1");
    await all(client.replayEvents(ofRun));
  });

  test(`${kind}: what could be replayed is told, and a part of it is: from an entry on, and so many prompts`, async () => {
    const { served, posted } = await withReplays(open, {
      one: [{ text: "Welcome" }],
      two: [CALL, { text: "Done" }],
    });
    await using _ = served;
    const client = served.client(await served.token("write"));
    const offer = await client.planReplay({ conversation: "c", from: "last" });
    expect(offer).toMatchObject({
      source: { conversation: "c", entry: "last", run: null },
      title: "Letters",
      promptCount: 2,
      first: 2,
      prompts: [
        { number: 1, text: "Post the first" },
        { number: 2, message: 5, entry: "thanks", text: "Thanks" },
      ],
      models: ["one", "two"],
      tools: [{ name: "post", hasEffect: true, hasDryRun: true }],
      absent: [],
    });
    expect((await client.planReplay({ run: "r1" })).first).toBe(1);
    expect((await client.listReplays()).replays).toEqual([]);
    const second = await client.startReplay({ conversation: "c", from: "last", models: ["one"] });
    expect(second.plan).toMatchObject({ prompts: 1, source: { entry: "last" } });
    await all(client.replayEvents(second));
    const first = await client.startReplay({ conversation: "c", models: ["two"], maxPrompts: 1 });
    await all(client.replayEvents(first));
    const { status, results, diffs } = await client.getReplay(first);
    expect({ status, results }).toMatchObject({
      status: "completed",
      results: [{ sent: 1, prompts: 1, divergence: null }],
    });
    // What came after the prompts that were sent again is not missed in the replay.
    expect(diffs).toMatchObject([{ counts: { removed: 0, added: 0 } }]);
    const fork = (results[0] as { readonly conversation: string }).conversation;
    const listed = async (conversation: string): Promise<number> =>
      (await client.listReplays({ conversation })).replays.length;
    expect([await listed("c"), await listed(fork), await listed("thanks")]).toEqual([2, 1, 0]);
    await expect(client.planReplay({ conversation: "c", from: "elsewhere" })).rejects.toMatchObject({
      code: "invalid_request",
    });
    await expect(client.planReplay({})).rejects.toMatchObject({ status: 400 });
    expect(posted).toEqual([]);
  });

  test(`${kind}: a replay that a client stops ends with what came of it; another process may ask for it, and tell it on`, async () => {
    const never = Promise.withResolvers<void>();
    const { served } = await withReplays(open, { one: [{ text: "Begun", until: never.promise }] });
    await using _ = served;
    const client = served.client(await served.token("write"));
    const { replay } = await client.startReplay({ conversation: "c" });
    const elsewhere = await serve({ holdfast: served.holdfast });
    const other = elsewhere.client(await served.token("write"));
    const events = other.replayEvents({ replay });
    for await (const { event } of events) if (event.type === "prompt") break;
    expect((await other.getReplay({ replay })).status).toBe("running");
    await other.stopReplay({ replay });
    const rest = await all(client.replayEvents({ replay }));
    expect(rest.at(-1)?.event).toMatchObject({ type: "ended", outcome: "interrupted" });
    expect(await other.stopReplay({ replay })).toMatchObject({ status: "stopped" });
  });

  test(`${kind}: live tools need a second word, and every effect is asked for in the fork`, async () => {
    const { served, posted } = await withReplays(open, { one: SAME });
    await using _ = served;
    const client = served.client(await served.token("write"));
    const ask = { conversation: "c", tools: "live" as const };
    await expect(client.startReplay(ask)).rejects.toMatchObject({ code: "invalid_request" });
    expect((await client.listReplays()).replays).toEqual([]);
    const { replay } = await client.startReplay({ ...ask, confirm: true });
    for await (const { event } of client.replayEvents({ replay })) {
      if (event.type !== "asked") continue;
      const { conversation, request } = event as { type: string; conversation: string; request: string };
      expect(posted).toEqual([]);
      await client.answerRequest({ conversation, request, outcome: "allowed" });
    }
    expect(posted).toEqual(['{"letter":1}']);
    expect((await client.getReplay({ replay })).status).toBe("completed");
  });

  test(`${kind}: what cannot be replayed is told before anything is written`, async () => {
    const { served } = await withReplays(open, { one: SAME });
    await using _ = served;
    const client = served.client(await served.token("write"));
    const count = async (): Promise<number> =>
      (await spaceOf(served.holdfast).list({ limit: 100 })).conversations.length;
    const before = await count();
    for (const [ask, status] of [
      [{}, 400],
      [{ run: "r1", conversation: "c", at: "last" }, 400],
      [{ conversation: "c", models: ["openai/gpt-5"] }, 400],
      [{ conversation: "c", fromMessage: 99 }, 400],
      [{ conversation: "x" }, 404],
      [{ run: "x" }, 404],
    ] as const)
      await expect(client.startReplay(ask)).rejects.toMatchObject({ status });
    expect(await count()).toBe(before);
    expect((await client.listReplays()).replays).toEqual([]);
    const planned = { type: "custom", customType: "replay_planned", data: {} };
    await client.createConversation({ id: "replay-forged", entries: [planned] });
    for (const replay of ["c", "replay-nothing", "replay-forged"])
      await expect(client.getReplay({ replay })).rejects.toMatchObject({ status: 404 });
    await using bare = await serve({ holdfast: served.holdfast });
    const alone = createClient({
      url: URL_HERE,
      token: await served.token("write"),
      fetch: bare.handler.fetch,
    });
    await expect(alone.startReplay({ conversation: "c" })).rejects.toMatchObject({ code: "no_agent" });
  });

  test(`${kind}: a server that stops ends its replays, which is recorded; one whose process is gone is said to be lost`, async () => {
    const never = Promise.withResolvers<void>();
    const until = never.promise;
    const { served } = await withReplays(open, {
      one: [
        { text: "a", until },
        { text: "b", until },
      ],
    });
    await using _ = served;
    const token = await served.token("write");
    const client = served.client(token);
    const { replay } = await client.startReplay({ conversation: "c" });
    await served.handler.drain(0);
    const clock = handClock(Date.now() + 3_600_000);
    const later = (await serve({ holdfast: served.holdfast, clock })).client(token);
    expect((await later.getReplay({ replay })).status).toBe("stopped");
    const lost = await served.holdfast.create({
      id: "replay-lost",
      unlisted: true,
      entries: [
        {
          type: "custom",
          customType: "replay_planned",
          data: { ...(await later.getReplay({ replay })).plan },
        },
      ],
    });
    expect((await later.getReplay({ replay: lost.id })).status).toBe("lost");
    expect(await all(later.replayEvents({ replay: lost.id }))).toEqual([]);
  });
}
