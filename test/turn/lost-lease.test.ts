/** A turn whose lease is lost: whoever sent it hears of it, whatever it was at, and no rejection is left without a handler. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Tool } from "#turn/effects/tool";
import { Holdfast } from "#conversation/holdfast";
import { Runtime } from "#upstream/runtime";
import type { PromptRequest } from "#upstream/upstream";
import { inMemoryStore } from "#stores/in-memory/index";
import { agentRig } from "../agent/rig.ts";
import { actingUpstream } from "../support/acting-upstream.ts";

const HOST = { writer: "host", leaseMs: 60 } as const;
const never = new Promise<never>(() => undefined);

const unhandled: unknown[] = [];
const hear = (error: unknown): void => void unhandled.push(error);
beforeEach(() => void process.on("unhandledRejection", hear));
afterEach(() => void process.off("unhandledRejection", hear));

/** Another process of the same name takes the conversation: the next renewal or append is refused. */
async function overtake(holdfast: Holdfast, id: string): Promise<void> {
  const conversation = await holdfast.conversation(id);
  await using _ = await conversation.own({ writer: HOST.writer, leaseMs: 60_000 });
}

/** A rejection without a handler is reported once the microtasks behind it have run. */
async function reported(): Promise<readonly unknown[]> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  return unhandled.splice(0);
}

const hang = (started: () => void): Tool => ({
  name: "hang",
  run: (_, { signal, progress }) => {
    progress("so far");
    started();
    return new Promise((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason as Error)),
    );
  },
});

/** What an agent may be at: it speaks, or runs tools of ours; then it hears of nothing any more. */
const AT_WORK = {
  speaking: async function* (_request: PromptRequest, begun: () => void) {
    yield { type: "text", text: "so far" } as const;
    begun();
    await never;
  },
  "in a tool of its own": async function* (_request: PromptRequest, begun: () => void) {
    yield { type: "tool", call: "c", name: "act", input: {}, state: "started" } as const;
    begun();
    await never;
  },
  "in tools of ours": async function* ({ runEffects }: PromptRequest, begun: () => void) {
    yield { type: "text", text: "so far" } as const;
    const calls = ["1", "2"].map((id) => ({ id, input: {}, tool: hang(begun) }));
    await runEffects(calls);
  },
};

test.each(Object.entries(AT_WORK))("of an agent %s", async (_, work) => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const begun = Promise.withResolvers<void>();
  const upstream = actingUpstream((request) => work(request, begun.resolve));
  const runtime = new Runtime(holdfast, { upstreams: [upstream], cancelMs: 50, ...HOST });
  const chat = await holdfast.create({ id: "c" });
  const turns = [1, 2].map(() => runtime.send(chat, "go", { key: "k" }));
  await begun.promise;
  await runtime.steer(chat, "and quickly");
  await runtime.note(chat, [{ type: "label", target: (await chat.head()).leaf.id, label: "here" }]);
  await overtake(holdfast, "c");
  for (const turn of turns) await expect(turn).rejects.toMatchObject({ code: "fenced" });
  await runtime.close();
  expect(await reported()).toEqual([]);
});

test.each(["waiting for the model", "in tools", "asking a person"] as const)(
  "of the loop %s",
  async (where) => {
    const begun = Promise.withResolvers<void>();
    const calls = ["1", "2"].map((id) => ({ id, name: "hang", input: {} }));
    const wait = (): object => (begun.resolve(), { text: "so far", until: never });
    const script = where === "waiting for the model" ? [wait] : [{ calls }];
    const at = await agentRig(script, {
      tools: [hang(begun.resolve)],
      permission: () => (where === "asking a person" ? "ask" : "allow"),
      ...HOST,
    });
    const onPermission = (): Promise<never> => (begun.resolve(), never);
    const turns = [1, 2].map(() => at.agent.send("c", "go", { key: "k", onPermission }));
    await begun.promise;
    await at.agent.steer("c", "and quickly");
    await at.agent.note("c", [
      { type: "label", target: (await at.conversation.head()).leaf.id, label: "here" },
    ]);
    await overtake(at.holdfast, "c");
    for (const turn of turns) await expect(turn).rejects.toMatchObject({ code: "fenced" });
    await at.agent.close();
    expect(await reported()).toEqual([]);
  },
);
