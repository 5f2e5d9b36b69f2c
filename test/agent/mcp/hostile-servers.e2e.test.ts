/** Servers that die, flood, lie and hang: each one clear result, nothing left behind, and the next call opens them again. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { McpServers } from "#agent/mcp/mcp-servers";
import { runs } from "../../edges/acp/mini-agent.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { call, hostile, words } from "./mcp-rig.ts";

describe("a server that misbehaves", () => {
  test("dies in the middle of a call: the result says so, and the next call opens it again, a few times", async () => {
    using dir = tempDir();
    const file = join(dir.path, "pids");
    await using servers = new McpServers([hostile("well", { file })]);
    const tools = await servers.tools();
    expect(servers.weight).toBe(1);
    const broken = await call(tools, "odd__die");
    expect(broken.isError).toBe(true);
    expect(words(broken)).toContain("exit code 9");
    expect(servers.states()).toMatchObject([{ state: "failed", tools: { length: 12 } }]);
    // What it offers stays known, so that a prompt does not change with it.
    expect(await servers.tools()).toEqual(tools);
    expect(words(await call(tools, "odd__echo", { a: 1 }))).toBe('{"a":1}');
    expect(servers.states()).toMatchObject([{ state: "open" }]);
    for (let at = 0; at < 6; at++) await call(tools, "odd__die");
    const refused = await call(tools, "odd__echo");
    expect(words(refused)).toContain("odd");
    const pids = readFileSync(file, "utf8").trim().split("\n").map(Number);
    expect(pids).toHaveLength(5);
    expect(pids.filter((pid) => runs(pid))).toEqual([]);
  });

  test("floods, with one line that never ends: it is ended, and the result says so", async () => {
    using dir = tempDir();
    const file = join(dir.path, "pids");
    await using servers = new McpServers([hostile("well", { file })]);
    const before = process.memoryUsage().rss;
    const flooded = await call(await servers.tools(), "odd__flood");
    expect(flooded.isError).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1_048_576);
    expect(words(await call(await servers.tools(), "odd__echo"))).toBe("{}");
    expect(runs(Number(readFileSync(file, "utf8").split("\n")[0]))).toBe(false);
  });

  test("hangs: a call that is told to stop ends at once, and a server that does not answer any more is ended", async () => {
    await using servers = new McpServers([hostile()]);
    const tools = await servers.tools();
    const first = words(await call(tools, "odd__pid"));
    const stop = new AbortController();
    const said = Object.assign([], { push: () => stop.abort(new Error("its time is over")) });
    await expect(call(tools, "odd__hang", {}, { signal: stop.signal, said })).rejects.toThrow();
    expect(words(await call(tools, "odd__pid"))).not.toBe(first);
    expect(runs(Number(first))).toBe(false);
  });

  test("lies about its schemas: what cannot be told is left out and named, the rest is there, and a hint alone is believed by nobody", async () => {
    const [trusting, careful] = [hostile("lies", { trusted: true }), hostile("lies", { name: "other" })];
    await using servers = new McpServers([careful, trusting]);
    const tools = await servers.tools();
    expect(tools.map(({ name }) => name)).toEqual([
      "other__standard",
      "other__twice",
      expect.stringMatching(/^other__bad_name_with_signs_[0-9a-f]{8}$/),
      "other__bad_name_with_signs",
      "odd__standard",
      "odd__twice",
      expect.stringMatching(/^odd__bad_name_with_signs_[0-9a-f]{8}$/),
      "odd__bad_name_with_signs",
    ]);
    expect(tools.map(({ effect, replay }) => [effect, replay])).toEqual([
      ...Array.from({ length: 7 }, () => [undefined, undefined]),
      ["none", "safe"],
    ]);
    expect(Math.max(...tools.map(({ description = "" }) => description.length))).toBeLessThan(4_300);
    const [{ problems } = { problems: [] }] = servers.states();
    expect(problems).toHaveLength(9);
  });

  test("answers what is no result, an error, very much, or parts of every kind", async () => {
    await using servers = new McpServers([hostile()]);
    const tools = await servers.tools();
    expect(await call(tools, "odd__odd")).toMatchObject({ isError: true });
    const failed = await call(tools, "odd__fail");
    expect(failed).toMatchObject({ isError: true, content: expect.stringContaining("out of order") });
    expect(servers.states()).toMatchObject([{ state: "open" }]);
    expect(words(await call(tools, "odd__long"))).toHaveLength(2_000_000);
    const parts = await call(tools, "odd__parts");
    expect(words(parts).split("\n")).toEqual([
      "one",
      "[image]",
      expect.stringContaining("image/png"),
      expect.stringContaining("audio/wav"),
      expect.stringContaining("file:///a"),
      "inside",
      expect.stringContaining("b at file:///b"),
      expect.stringMatching(/^\[.+\]$/),
    ]);
    expect(parts.details).toEqual({ structured: { sum: 3 } });
  });

  test("cannot be opened: it dies at once, says nothing, is not there, lists in a circle", async () => {
    await using servers = new McpServers([
      hostile("dies", { name: "dies" }),
      { name: "gone", command: "/no/such/program" },
      { name: "refused", url: "http://127.0.0.1:9/mcp" },
      hostile("circle", { name: "circle" }),
    ]);
    // Nobody else may be given up for being slow.
    await using silent = new McpServers([hostile("mute", { name: "mute" })], { openMs: 500 });
    const states = await servers.open();
    expect([...states, ...(await silent.open())].map(({ name, state }) => [name, state])).toEqual([
      ["dies", "failed"],
      ["gone", "failed"],
      ["refused", "failed"],
      ["circle", "open"],
      ["mute", "failed"],
    ]);
    expect(states[0]?.problems[0]).toContain("exit code 3");
    expect(states[0]?.problems[0]).toContain("no licence");
    expect(states[1]?.problems[0]).toContain("/no/such/program");
    expect(states.filter(({ openedInMs }) => openedInMs !== null)).toHaveLength(1);
    expect((await servers.tools()).length).toBeGreaterThan(0);
  });
});

test("what a server says while it works is told; lists that change are read again; only its own variables reach it", async () => {
  await using servers = new McpServers([hostile("well", { env: { GIVEN: "yes" } })]);
  const tools = await servers.tools();
  const said: string[] = [];
  expect(words(await call(tools, "odd__progress", {}, { said }))).toBe("done");
  expect(said).toEqual(["1 of 3 step 1\n", "2 of 3 step 2\n", "3 of 3 step 3\n"]);
  await call(tools, "odd__change");
  const changed = await servers.tools();
  expect(changed.at(-1)?.name).toBe("odd__added");
  expect(await servers.tools()).toEqual(changed);
  vi.stubEnv("HOLDFAST_TEST_SECRET", "hush");
  using _ = { [Symbol.dispose]: () => vi.unstubAllEnvs() };
  await using again = new McpServers([hostile("well", { env: { GIVEN: "yes" } })]);
  const env = async (name: string): Promise<string> =>
    words(await call(await again.tools(), "odd__env", { name }));
  expect([await env("GIVEN"), await env("HOLDFAST_TEST_SECRET")]).toEqual(["yes", "undefined"]);
});

test("closing ends a server that heeds neither its input nor a signal, and it is not opened again", async () => {
  const servers = new McpServers([hostile("stubborn")]);
  const tools = await servers.tools();
  const pid = Number(words(await call(tools, "odd__pid")));
  expect(runs(pid)).toBe(true);
  await servers.close();
  expect([runs(pid), servers.weight]).toEqual([false, 0]);
  expect(words(await call(tools, "odd__pid"))).toContain("was not called");
});
