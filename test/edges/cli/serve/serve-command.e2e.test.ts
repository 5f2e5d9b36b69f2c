import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "#edges/http/client/index";
import { createFaultClient } from "../../../../ui/src/data/fault-client.ts";
import { writeMiniAgent } from "../../acp/mini-agent.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines } from "../cli-run.ts";
import { startServer } from "../../http/serve-process.ts";

test("a server that is killed has lost nothing it acknowledged; clients go on by seq at the next one; SIGTERM drains", async () => {
  using folder = tempDir();
  const store = `sqlite:${join(folder.path, "store.db")}`;
  const made = await holdfastHere(store, ["token", "add", "laptop", "--rights", "write", "--json"]);
  const [{ secret }] = jsonLines(made.out) as unknown as [{ secret: string }];
  await using first = await startServer(store, "--model", "sim");
  // The one that follows has the address, as behind a proxy.
  let { url } = first;
  const client = createClient({
    url: "http://127.0.0.1:1",
    token: secret,
    fetch: (request) => fetch(new Request(request.url.replace("http://127.0.0.1:1", url), request)),
    sleep: async () => void (await new Promise((resolve) => setImmediate(resolve))),
  });
  const { conversation } = await client.createConversation({ title: "Over HTTP" });
  const turn = await client.send({ conversation, content: "remember x=1" });
  for await (const entry of client.turnEvents(turn)) expect(entry.seq).toBeGreaterThan(turn.after);
  const stop = new AbortController();
  const heard: number[] = [];
  const started = Promise.withResolvers<void>();
  const tailing = (async () => {
    for await (const { seq } of client.tail({ conversation }, { signal: stop.signal })) {
      heard.push(seq);
      if (heard.length === 1) started.resolve();
    }
  })();
  await started.promise;
  const before = (await client.listEntries({ conversation, limit: 500 })).entries;
  await first.end("SIGKILL");
  await using second = await startServer(store, "--model", "sim");
  url = second.url;
  expect((await client.listEntries({ conversation, limit: 500 })).entries).toEqual(before);
  const again = await client.send({ conversation, content: "recall x" });
  let text = "";
  for await (const entry of client.turnEvents(again))
    if (entry.type === "message" && entry.message.role === "assistant")
      text += JSON.stringify(entry.message.content);
  expect(text).toContain("1");
  const { headSeq } = await client.getConversation({ conversation });
  await expect.poll(() => heard.at(-1)).toBe(headSeq);
  stop.abort();
  await tailing;
  expect(heard).toEqual(heard.map((_, at) => at + 1));
  expect(await second.end("SIGTERM")).toBe(0);
  const listed = await holdfastHere(store, ["ls", "--json"]);
  expect(jsonLines(listed.out)).toMatchObject([{ conversation, title: "Over HTTP", headSeq }]);
});

test("behind a proxy its link has the proxy's name, and its cookie is for TLS alone", async () => {
  await using server = await startServer("memory:", "--public-url", "https://agents.example");
  const launch = new URL(server.launch);
  expect(launch.origin).toBe("https://agents.example");
  const asked = get(`${server.url}${launch.pathname}${launch.search}`, {
    headers: { host: "agents.example" },
  });
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  expect([answer.statusCode, answer.headers["set-cookie"]?.[0]]).toEqual([
    303,
    expect.stringMatching(/; Secure$/),
  ]);
});

test("it lets a browser in by its link once, and does not listen beyond this machine unless told", async () => {
  using folder = tempDir();
  const mini = `mini='${process.execPath}' '${writeMiniAgent(folder.path, "")}' '${folder.path}'`;
  const agents = ["--agent", "simulated", "--speed", "100", "--agent", mini, "--cwd", folder.path];
  await using server = await startServer("memory:", ...agents);
  const launched = await fetch(server.launch, { redirect: "manual" });
  expect(launched.status).toBe(303);
  const cookie = launched.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(new RegExp(`^holdfast_${new URL(server.url).port}=hf_`));
  const health = await fetch(`${server.url}/api/health`, { headers: { cookie: cookie.split(";")[0] ?? "" } });
  expect(health.status).toBe(200);
  expect((await fetch(server.launch, { redirect: "manual" })).status).toBe(401);
  const client = createClient({ url: server.url, token: server.token });
  expect((await client.listAgents()).agents).toMatchObject([{ agent: "mini" }, { agent: "simulated" }]);
  const { conversation } = await client.createConversation({});
  for await (const entry of client.turnEvents(await client.send({ conversation, content: "Hello" })))
    if (entry.type === "message" && entry.message.role === "assistant")
      expect(JSON.stringify(entry)).toContain("You said Hello");
  for (const content of ["remember x=1", "recall x"]) {
    for await (const entry of client.turnEvents(
      await client.send({ conversation, content, agent: "simulated" }),
    ))
      if (entry.type === "turn_end") expect(entry.outcome).toBe("completed");
    await createFaultClient({ url: server.url, token: server.token }).strikeAgent({
      agent: "simulated",
      kind: "lost_transcript",
    });
  }
  expect((await client.getChain({ conversation })).links).toMatchObject([
    { agent: "mini" },
    {},
    { reason: "lost" },
  ]);
  const refused = await holdfastHere("memory:", ["serve", "--host", "0.0.0.0"]);
  expect([refused.status, refused.err]).toEqual([2, expect.stringContaining("--allow-host")]);
});
