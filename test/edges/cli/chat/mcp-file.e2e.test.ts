import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readServers } from "#edges/cli/chat/mcp-file";
import { runs } from "../../acp/mini-agent.ts";
import { jsonLines } from "../cli-run.ts";
import { MODEL, modelCli } from "../model-cli.ts";

const HOSTILE = join(import.meta.dirname, "../../../support/hostile-server.ts");

test("--mcp gives a chat the tools of servers, asks before it calls them, and ends them with the command", async () => {
  await using cli = await modelCli();
  const [file, pids] = [join(cli.folder, "mcp.json"), join(cli.folder, "pids")];
  const odd = { command: process.execPath, args: [HOSTILE, "well", "${PIDS}"], env: { KEY: "${SECRET}" } };
  writeFileSync(file, JSON.stringify({ mcpServers: { odd, off: { command: "x", disabled: true } } }));
  const env = { PIDS: pids, SECRET: "hush-hush" };
  const ask = 'tool odd__env {"name":"KEY"}';
  const refused = await cli.run(["chat", "m", "-p", ask, "--model", MODEL, "--mcp", file], { env });
  expect(refused.err).toContain("odd__env");
  expect(refused.out).not.toContain("hush-hush");
  const allowed = await cli.run(["chat", "m", "-p", ask, "--mcp", file, "--yes"], { env });
  expect([allowed.status, allowed.out]).toEqual([0, expect.stringContaining("hush-hush")]);
  const started = readFileSync(pids, "utf8").trim().split("\n").map(Number);
  expect(started).toHaveLength(2);
  expect(started.filter((pid) => runs(pid))).toEqual([]);
  // Without the file the conversation's server is told as missing, by its tools; nothing is started for it.
  const without = await cli.run(["chat", "m", "-p", "hello"], { env });
  expect(without.err).toContain("odd__echo");
  expect(readFileSync(pids, "utf8").trim().split("\n")).toHaveLength(2);
  const [restored] = jsonLines((await cli.run(["context", "m", "--restore", "--json"])).out);
  expect(restored).toMatchObject({ servers: [{ name: "odd", state: "missing" }] });
});

test("a file that is none, or names a variable that is not set, is refused before anything is made", async () => {
  await using cli = await modelCli();
  const file = join(cli.folder, "mcp.json");
  const given = ["", "[]", '{"mcpServers":[]}', '{"mcpServers":{"a":7}}', '{"mcpServers":{"a":{}}}'];
  for (const text of [...given, '{"mcpServers":{"a":{"command":"${HOLDFAST_NO_SUCH}"}}}']) {
    writeFileSync(file, text);
    const { status } = await cli.run(["chat", "m", "-p", "hi", "--model", MODEL, "--mcp", file]);
    expect([text, status]).toEqual([text, 2]);
  }
  expect((await cli.run(["chat", "m", "-p", "hi", "--model", MODEL, "--mcp", "none.json"])).status).toBe(2);
  expect((await cli.run(["acp", "--mcp", file, "--", "true"])).status).toBe(2);
  expect((await cli.run(["ls", "--json"])).out).toBe("");
});

test("both kinds of server are read, with variables and their defaults; the old kind is refused", () => {
  const text = JSON.stringify({
    mcpServers: {
      a: { command: "run", args: ["--in", "${WHERE:-here}"], env: { K: "${K}" }, cwd: "/tmp", trust: true },
      b: { type: "http", url: "http://h/${P}", headers: { A: "Bearer ${K}" } },
    },
  });
  expect(readServers(text, "f", { K: "1", P: "mcp" })).toEqual([
    { name: "a", command: "run", args: ["--in", "here"], env: { K: "1" }, cwd: "/tmp", trusted: true },
    { name: "b", url: "http://h/mcp", headers: { A: "Bearer 1" } },
  ]);
  const old = JSON.stringify({ mcpServers: { a: { type: "sse", url: "http://h" } } });
  expect(() => readServers(old, "f", {})).toThrow(expect.objectContaining({ code: "invalid_request" }));
});
