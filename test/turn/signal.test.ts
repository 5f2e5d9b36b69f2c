/** A signal of the host's stops a turn, whoever carries it: before it begins, while it runs, and not after it. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { Runtime } from "#upstream/runtime";
import { inMemoryStore } from "#stores/in-memory/index";
import { simUpstream, SimWorld } from "#testing/index";
import type { HostEvent } from "#turn/host";
import { Agent } from "#agent/agent";
import { ScriptedModel } from "../agent/scripted-model.ts";

interface Carried {
  readonly outcome: string;
  readonly class: string | null;
}

interface Host {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: HostEvent) => void;
}

interface Carrier {
  readonly holdfast: Holdfast;
  readonly send: (id: string, host: Host) => Promise<Carried>;
  /** A turn that does not end by itself. */
  readonly sendLong: (id: string, host: Host) => Promise<Carried>;
}

function ofLoop(): Carrier {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const model = new ScriptedModel([
    ({ prompt }) =>
      JSON.stringify(prompt.at(-1)).includes("long")
        ? { text: "half and more", until: new Promise(() => undefined) }
        : { text: "done" },
  ]);
  const agent = new Agent(holdfast, { model, instructions: false });
  const send = (text: string) => (id: string, host: Host) => agent.send(id, text, host);
  return { holdfast, send: send("short"), sendLong: send("long") };
}

function ofUpstream(): Carrier {
  const world = new SimWorld({ seed: 1 });
  const holdfast = new Holdfast(world.store(inMemoryStore()), "default");
  const runtime = new Runtime(holdfast, {
    upstreams: [simUpstream(world, { agent: "a" })],
    clock: world.clock,
  });
  const send = (text: string) => (id: string, host: Host) => runtime.send(id, text, host);
  return { holdfast, send: send("recall a"), sendLong: send("work 1000") };
}

test.each([
  ["our own loop", ofLoop],
  ["an upstream", ofUpstream],
])("a turn of %s is stopped by its signal", async (_, make) => {
  const { holdfast, send, sendLong } = make();
  const conversation = await holdfast.create();
  const { id } = conversation;
  const before = (await conversation.head()).headSeq;
  const why = new Error("the request is gone");
  await expect(send(id, { signal: AbortSignal.abort(why) })).rejects.toBe(why);
  expect((await conversation.head()).headSeq).toBe(before);

  const stop = new AbortController();
  const onEvent = ({ type }: HostEvent): void => void (type === "update" && stop.abort());
  expect(await sendLong(id, { signal: stop.signal, onEvent })).toMatchObject({
    outcome: "interrupted",
    class: "cancelled",
  });
  const [end] = (await conversation.facts(["turn_end"])).slice(-1);
  expect(end).toMatchObject({ outcome: "interrupted" });

  const late = new AbortController();
  expect(await send(id, { signal: late.signal })).toMatchObject({ outcome: "completed" });
  late.abort();
  expect(await send(id, {})).toMatchObject({ outcome: "completed" });
});

test("a turn that waits for other work in its conversation is not begun once its signal is aborted", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const agent = new Agent(holdfast, { model: new ScriptedModel([]), instructions: false });
  const conversation = await holdfast.create();
  const written = Promise.withResolvers<void>();
  const noting = agent.note(conversation, async () => (await written.promise, []));
  const stop = new AbortController();
  const sending = agent.send(conversation, "hello", { signal: stop.signal });
  stop.abort();
  written.resolve();
  await expect(sending).rejects.toBe(stop.signal.reason);
  await noting;
  expect(await conversation.facts(["turn_start"])).toEqual([]);
});

test("a signal that is none is refused by its name", async () => {
  const { holdfast, send } = ofLoop();
  const { id } = await holdfast.create();
  const refused = { code: "invalid_request", details: { name: "signal" } };
  await expect(send(id, { signal: {} as never })).rejects.toMatchObject(refused);
});
