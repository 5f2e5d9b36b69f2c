/**
 * Goal: with a memory, what a conversation, its forks and another process send still begins with the bytes that were sent before; what
 * is recalled for one prompt stands behind the last mark. Compared on the bodies that the real packages put on the wire.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { Memory } from "#agent/memory/memory";
import { Holdfast } from "#conversation/holdfast";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { WIRES, wireAgent } from "../wire-rig.ts";
import { type ModelServer, startModelServer } from "../../support/model-server.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { unmark, upToReminder } from "../../support/wire-prefix.ts";

let server: ModelServer;
beforeAll(async () => void (server = await startModelServer()));
afterAll(() => server.close());

function recalledIn(body: string): string {
  return body.slice(body.lastIndexOf("<recall>"), body.lastIndexOf("</recall>"));
}

test.each(WIRES)("over the wire of %s", async (wire) => {
  using folder = tempDir();
  const backing = inMemoryBacking();
  const start = (): { readonly agent: Agent; readonly holdfast: Holdfast; readonly memory: Memory } => {
    const memory = new Memory(new Holdfast(inMemoryStore({ backing }), "default"));
    return { ...wireAgent(server, wire, { backing, memory }), memory };
  };
  const { agent, holdfast, memory } = start();
  const long = (about: string): string => `${about}: ${"it is a long story ".repeat(20)} and so on`;
  for (const about of ["herons", "egrets"]) await memory.save("user", { title: about, content: long(about) });
  const chat = await holdfast.create({ cwd: folder.path });
  const ask = async (by: Agent, to: string, prompt: string): Promise<string> => {
    server.add({ text: "yes" });
    expect((await by.send(to, prompt)).outcome).toBe("completed");
    return server.requests.at(-1)?.body ?? "";
  };
  const expectContinues = (source: string, next: string): void => {
    const shared = upToReminder(source);
    expect(unmark(next).slice(0, shared.length)).toBe(shared);
  };
  const first = await ask(agent, chat.id, "what about herons?");
  expect(recalledIn(first)).toContain("herons");
  const second = await ask(agent, chat.id, "and egrets?");
  expectContinues(first, second);
  expect(recalledIn(second)).not.toContain("herons");
  expectContinues(second, await ask(agent, (await chat.fork({ cwd: folder.path })).id, "in a fork?"));
  expectContinues(second, await ask(start().agent, chat.id, "in another process?"));
  // A further memory leaves what stands before it in the system prompt as it was.
  const before = await ask(agent, chat.id, "once more");
  await memory.save("user", { title: "cranes", content: "tall" });
  const after = await ask(agent, chat.id, "once more");
  const known = /<memory>.*\[user, note\] egrets[^…]*…/.exec(before)?.[0] ?? "nothing";
  expect(after).toContain(known);
  expect(after).toContain("cranes: tall");
});
