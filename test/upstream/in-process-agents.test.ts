/** An agent that runs its tools in our own process acts only when it is asked on: so that is when the act happens. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import type { Host } from "#turn/host";
import type { Clock } from "#conversation/clock";
import { Runtime } from "#upstream/runtime";
import { LogError } from "#log/errors";
import type { Store } from "#store/store";
import type { AppendRequest } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { inMemoryStore } from "#stores/in-memory/index";
import { actingUpstream, EMAIL, emailing } from "../support/acting-upstream.ts";

const host: Host = { onEvent: () => undefined };
const isIntent = (request: AppendRequest): boolean =>
  request.drafts.some(({ draft }) => draft.type === "tool_intent");

/** Lets everything happen that waits for nothing but its turn. */
async function aWhile(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
}

/** Nobody waits longer than a millisecond for anything; everything longer never comes. */
const IMPATIENT: Clock = {
  nowMs: () => 0,
  steadyMs: () => 0,
  sleep: (ms, signal) =>
    ms <= 1 ? Promise.resolve() : new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
};

/** A store whose intents take a way of their own. */
function storeWith(onIntent: (write: () => Promise<unknown>) => Promise<unknown>): Store {
  const store = inMemoryStore();
  const around = (space: SpaceStore): SpaceStore => ({
    ...space,
    append: async (request) => {
      const result = space.append.bind(space, request);
      if (!isIntent(request)) return result();
      return (await onIntent(result)) as Awaited<ReturnType<SpaceStore["append"]>>;
    },
  });
  return { ...store, space: (id) => around(store.space(id)) };
}

test("an agent in our process does not act before the intent is durable", async () => {
  const steps: string[] = [];
  const written = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const holdfast = new Holdfast(
    storeWith(async (write) => {
      await written.promise;
      const result = await write();
      steps.push("intent");
      return result;
    }),
    "default",
  );
  const upstream = actingUpstream(emailing(() => steps.push("act")));
  const runtime = new Runtime(holdfast, { upstreams: [upstream] });
  const { id } = await holdfast.create();
  const onEvent: Host["onEvent"] = (event) => {
    if (event.type === "update" && event.event.type === "tool") started.resolve();
  };
  const sent = runtime.send(id, "email bob", { onEvent });
  await started.promise;
  await aWhile();
  expect(steps).toEqual([]);
  written.resolve();
  expect(await sent).toMatchObject({ outcome: "completed", text: "It is sent." });
  expect(steps).toEqual(["intent", "act"]);
});

test("an agent in our process does not act at all when the intent cannot be written, and is told to stop", async () => {
  const steps: string[] = [];
  const holdfast = new Holdfast(
    storeWith(() => Promise.reject(new LogError("disk_full", "no room"))),
    "default",
  );
  const cancel = async (): Promise<void> => void steps.push("cancel");
  const upstream = actingUpstream(
    emailing(() => steps.push("act")),
    { cancel },
  );
  const runtime = new Runtime(holdfast, { upstreams: [upstream] });
  const { id } = await holdfast.create();
  await expect(runtime.send(id, "email bob", host)).rejects.toMatchObject({ code: "disk_full" });
  await runtime.close();
  expect(steps).toEqual(["cancel"]);
});

test("who cancels while the intent is being written and hears nothing of it gets the turn back without the act", async () => {
  const steps: string[] = [];
  const written = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const holdfast = new Holdfast(
    storeWith(async (write) => {
      asked.resolve();
      await written.promise;
      return write();
    }),
    "default",
  );
  const upstream = actingUpstream(emailing(() => steps.push("act")));
  const runtime = new Runtime(holdfast, { upstreams: [upstream], cancelMs: 1, clock: IMPATIENT });
  const { id } = await holdfast.create();
  const sent = runtime.send(id, "email bob", host);
  await asked.promise;
  runtime.cancel(id);
  await aWhile();
  written.resolve();
  expect(await sent).toMatchObject({ outcome: "interrupted", class: "cancelled" });
  expect(steps).toEqual([]);
  const [effect] = await (await holdfast.conversation(id)).effects();
  expect(effect).toMatchObject({ call: EMAIL.call, state: "unknown" });
});

test("a person is not asked about a call before its intent is durable, wherever the tool runs", async () => {
  const written = Promise.withResolvers<void>();
  const heard: string[] = [];
  const started = Promise.withResolvers<void>();
  const holdfast = new Holdfast(
    storeWith(async (write) => {
      await written.promise;
      return write();
    }),
    "default",
  );
  const upstream = {
    ...actingUpstream(async function* () {
      yield { ...EMAIL, state: "started" };
      yield { type: "permission", call: EMAIL.call, data: "May I?" };
    }),
    toolsElsewhere: true,
  };
  const runtime = new Runtime(holdfast, { upstreams: [upstream] });
  const { id } = await holdfast.create();
  const onEvent: Host["onEvent"] = (event) => {
    if (event.type === "update") heard.push(event.event.type);
    started.resolve();
  };
  const sent = runtime.send(id, "email bob", { onEvent });
  await started.promise;
  await aWhile();
  expect(heard).toEqual(["tool"]);
  written.resolve();
  await sent;
  expect(heard).toEqual(["tool", "permission"]);
});

test("an agent whose tools run elsewhere is read on while the intent is written", async () => {
  const written = Promise.withResolvers<void>();
  const heard: string[] = [];
  const told = Promise.withResolvers<void>();
  const holdfast = new Holdfast(
    storeWith(async (write) => {
      await written.promise;
      return write();
    }),
    "default",
  );
  const upstream = { ...actingUpstream(emailing(() => undefined)), toolsElsewhere: true };
  const runtime = new Runtime(holdfast, { upstreams: [upstream] });
  const { id } = await holdfast.create();
  const onEvent: Host["onEvent"] = (event) => {
    if (event.type === "update") heard.push(event.event.type);
    if (heard.length === 3) told.resolve();
  };
  const sent = runtime.send(id, "email bob", { onEvent });
  await told.promise;
  expect(heard).toEqual(["tool", "tool", "text"]);
  written.resolve();
  expect(await sent).toMatchObject({ outcome: "completed" });
});
