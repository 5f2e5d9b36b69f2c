/** Nobody answers in a conversation who was not named, and never the simulator in place of an agent. */
import { expect, test } from "vitest";
import { createClient } from "#edges/http/client/index";
import { openBridge } from "../../acp/bridge.ts";
import { holdfastHere, runHere } from "../cli-here.ts";
import { jsonLines } from "../cli-run.ts";
import { modelCli } from "../model-cli.ts";

test("a conversation that an agent ran is answered by nobody until a model is named: exit 2, nothing is written", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const id = await bridge.host.newSession();
  await bridge.host.prompt(id, "remember color=blue");
  const before = await bridge.log(id);
  const refused = [
    ["chat", id, "-p", "what is color?"],
    ["chat", id, "-p", "what is color?", "--json"],
    ["replay", id],
  ];
  for (const args of refused) {
    const { status, err } = await runHere(bridge.store, args);
    expect([args, status]).toEqual([args, 2]);
    expect(err).toContain(`holdfast ${args[0]} ${id}`);
    expect(err).toContain("--model");
  }
  expect((await runHere(bridge.store, ["chat", id], "what is color?\n")).status).toBe(2);
  expect((await runHere(bridge.store, ["continue", id])).status).toBe(0); // its last turn is complete
  expect(await bridge.log(id)).toEqual(before);
  // Named, it answers, also when it is the simulator.
  const named = await runHere(bridge.store, ["chat", id, "-p", "recall color", "--model", "sim"]);
  expect(named).toMatchObject({ status: 0, out: "blue.\n" });
});

test("a script without a model is told to name one before a conversation is made", async () => {
  await using cli = await modelCli();
  for (const args of [["chat", "c", "-p", "hello"], ["chat", "-p", "hello"], ["chat", "c"], ["chat"]])
    expect([args, (await cli.run(args, { input: "hello\n" })).status]).toEqual([args, 2]);
  expect(jsonLines((await cli.run(["ls", "--json"])).out)).toEqual([]);
  expect((await cli.run(["new", "--id", "empty"])).status).toBe(0);
  expect((await cli.run(["chat", "empty", "-p", "hello"])).status).toBe(2);
});

test("the simulated model answers where it is named, and in its conversations: also in a fork of one", async () => {
  await using cli = await modelCli();
  const first = await cli.run(["chat", "c", "--model", "sim", "-p", "remember a=1"]);
  expect(first).toMatchObject({ status: 0, out: "Noted a=1\n" });
  expect(await cli.run(["chat", "c", "-p", "recall a"])).toMatchObject({ status: 0, out: "1\n" });
  await cli.run(["fork", "c", "--id", "aside"]);
  expect(await cli.run(["chat", "aside", "-p", "recall a"])).toMatchObject({ status: 0, out: "1\n" });
  expect((await cli.run(["chat", "c", "-p", "x", "--agent", "simulated"])).status).toBe(2);
});

test("a server runs turns and replays by what it was started with, and by nobody else", async () => {
  const stop = new AbortController();
  const started = Promise.withResolvers<{ readonly url: string; readonly token: string }>();
  const ended = holdfastHere("memory:", ["serve", "--json", "--print-link"], {
    interrupt: stop.signal,
    onOut: (text) => started.resolve(JSON.parse(text) as { readonly url: string; readonly token: string }),
  });
  const client = createClient(await started.promise);
  const { conversation } = await client.createConversation({});
  expect((await client.listAgents()).agents).toEqual([]);
  const refused = { code: "no_agent" };
  await expect(client.send({ conversation, content: "remember color=blue" })).rejects.toMatchObject(refused);
  await expect(client.startReplay({ conversation })).rejects.toMatchObject(refused);
  stop.abort();
  expect((await ended).status).toBe(0);
});
