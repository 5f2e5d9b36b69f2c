import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { forkAside, goBackTo } from "#upstream/sessions/fork-session";
import { Runtime } from "#upstream/runtime";
import { simUpstream, SimWorld } from "#testing/index";
import { inMemoryStore } from "#stores/in-memory/index";

const REFUSED: unknown = expect.objectContaining({ code: "invalid_request" });
const NOTHING = undefined as never;

test("a runtime without a space, without upstreams, or with something else in their place, is refused by name", () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const upstream = simUpstream(new SimWorld({ seed: 1 }), { agent: "a" });
  expect(() => new Runtime(NOTHING, { upstreams: [upstream] })).toThrow(REFUSED);
  for (const given of [
    NOTHING,
    {},
    { upstreams: [] },
    { upstreams: [NOTHING] },
    { upstreams: [{ agent: "a" }] },
  ])
    expect(() => new Runtime(holdfast, given as never)).toThrow(REFUSED);
});

test("a prompt without content, or with options that are none, is refused, and nothing is written", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const upstream = simUpstream(new SimWorld({ seed: 1 }), { agent: "a" });
  const runtime = new Runtime(holdfast, { upstreams: [upstream] });
  const chat = await holdfast.create({ id: "chat" });
  const wrong = { onEvent: "me" } as never;
  await expect(runtime.send("chat", "hello", wrong)).rejects.toEqual(REFUSED);
  await expect(runtime.send("chat", "hello", null as never)).rejects.toEqual(REFUSED);
  await expect(runtime.send("chat", NOTHING)).rejects.toEqual(REFUSED);
  await expect(runtime.send("chat", {} as never)).rejects.toEqual(REFUSED);
  await expect(runtime.retry("chat", wrong)).rejects.toEqual(REFUSED);
  await expect(runtime.connect("chat", wrong)).rejects.toEqual(REFUSED);
  expect((await chat.head()).headSeq).toBe(1);
});

test("a fork without an upstream is refused, and no fork is made", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const chat = await holdfast.create({ id: "chat" });
  await expect(forkAside(chat, NOTHING)).rejects.toEqual(REFUSED);
  await expect(goBackTo(chat, NOTHING, "x")).rejects.toEqual(REFUSED);
  expect(await Array.fromAsync(holdfast.list())).toHaveLength(1);
});
