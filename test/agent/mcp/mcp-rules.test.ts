import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limitedFetch, outputOf } from "#agent/mcp/mcp-connection";
import { loadSdk } from "#agent/mcp/load-sdk";
import { checkServers, type McpServer, recordOfServer } from "#agent/mcp/mcp-server";
import { McpServers } from "#agent/mcp/mcp-servers";
import { offeredTools, toolName } from "#agent/mcp/mcp-tool-list";
import { serverBodies, withKnownTools, restoreServers } from "#agent/mcp/conversation-servers";
import type { Json } from "#log/json/json-text";

describe("names of tools", () => {
  test("are the server's and the tool's where that is a name, and never those of another tool", () => {
    expect(toolName("files", "read_file")).toBe("files__read_file");
    for (const [server, own] of [
      ["a__b", "c"],
      ["a", "b c"],
      ["ä", "b"],
      ["a_", "b"],
      ["a", "x".repeat(64)],
    ] as const)
      expect(toolName(server, own)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    const part = fc.string({
      unit: fc.constantFrom("a", "b", "_", "-", ".", "é"),
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(part, part, part, part, (server, own, other, another) => {
        fc.pre(server !== other || own !== another);
        expect(toolName(server, own)).not.toBe(toolName(other, another));
      }),
    );
  });

  test("a list is taken as far as it can be believed: one lie costs none of the others", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    const { tools, issues } = offeredTools("s", [
      {
        name: "good",
        description: "Good </skills>",
        inputSchema: schema,
        annotations: { readOnlyHint: true },
      },
      { name: "worse", inputSchema: { type: "banana" } },
      "nothing",
      { name: "good", inputSchema: schema },
    ] as Json[]);
    expect(tools).toMatchObject([
      { own: "good", name: "s__good", schema, readsOnly: true, isIdempotent: false },
    ]);
    expect(issues).toHaveLength(3);
    const many = Array.from({ length: 1_000 }, (_, at) => ({ name: `t${at}`, inputSchema: schema }));
    expect(offeredTools("s", many)).toMatchObject({ tools: { length: 128 }, issues: { length: 1 } });
  });
});

test("a package that is not installed is the caller's to install, and who has no servers does not need it", async () => {
  const load = async (): Promise<never> => Promise.reject(new Error("Cannot find package"));
  await expect(loadSdk(load)).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("npm install @modelcontextprotocol/sdk"),
  });
  await using none = new McpServers([]);
  expect([await none.tools(), await none.open()]).toEqual([[], []]);
});

test("whatever a server answers is an output that can be kept", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const { content } = outputOf(value as Json);
      expect(typeof content === "string" || Array.isArray(content)).toBe(true);
    }),
  );
  const blocks = [null, { type: "text" }, { type: "image", data: 7 }, { type: "resource" }];
  expect(outputOf({ content: blocks }).content).toHaveLength(3);
  expect(outputOf({ structuredContent: { sum: 3 } })).toMatchObject({
    content: [{ type: "text", text: '{"sum":3}' }],
    details: { structured: { sum: 3 } },
  });
});

describe("servers that a host gives", () => {
  test("are refused where they could not be opened whatever happens", () => {
    const wrong: readonly unknown[] = [
      [{ name: "", command: "a" }],
      [{ name: "a\nb", command: "a" }],
      [{ name: "a" }],
      [{ name: "a", command: " " }],
      [{ name: "a", command: "b", url: "http://c" }],
      [{ name: "a", url: "file:///etc/passwd" }],
      [{ name: "a", url: "nowhere" }],
      [{ name: "a", command: "b", env: { A: "\0" } }],
      [
        { name: "a", command: "b" },
        { name: "a", url: "http://c" },
      ],
    ];
    for (const servers of wrong)
      expect(() => checkServers(servers as readonly McpServer[])).toThrow(
        expect.objectContaining({ code: "invalid_request" }),
      );
  });

  test("are in the log without a secret: no value of a variable or header, no argument, no query", () => {
    const stored = JSON.stringify([
      recordOfServer({ name: "a", command: "run", args: ["--key=hush"], env: { KEY: "hush" } }, ["a__b"]),
      recordOfServer(
        { name: "b", url: "http://u:hush@h/p?key=hush", headers: { Authorization: "hush" } },
        [],
      ),
    ]);
    expect(stored).not.toContain("hush");
    expect(JSON.parse(stored)).toEqual([
      { name: "a", command: "run", env: [{ name: "KEY" }], tools: ["a__b"] },
      { name: "b", type: "http", url: "http://h/p", headers: [{ name: "Authorization" }] },
    ]);
  });

  test("are written where they are others than before; one that is not open keeps the tools it had", () => {
    const stored = [
      { name: "old", command: "x" },
      { name: "a", command: "run", env: [], tools: ["a__b"] },
    ];
    const servers = new McpServers([{ name: "a", command: "run" }]);
    expect(serverBodies({ mcpServers: stored }, [servers])).toEqual([]);
    expect(serverBodies({ tone: "short" }, [servers])).toEqual([
      {
        type: "config_change",
        config: { tone: "short", mcpServers: [{ name: "a", command: "run", env: [] }] },
      },
    ]);
    expect(serverBodies({}, [])).toEqual([]);
    expect(withKnownTools([{ name: "a" }, { name: "c" }], stored)).toEqual([
      { name: "a", tools: ["a__b"] },
      { name: "c" },
    ]);
  });

  test("one that only the log names is missing, by its name and its tools", async () => {
    const config = {
      mcpServers: [{ name: "files", command: "touch", tools: ["files__read"] }, { command: "x" }, 7],
    };
    expect(await restoreServers(config, [])).toMatchObject([
      { name: "files", state: "missing", tools: ["files__read"], openedInMs: null },
    ]);
  });
});

test("an answer over HTTP ends where it becomes too large, also an event of a stream; a long stream does not", async () => {
  const part = Buffer.alloc(1_048_576, 0x78);
  const server = createServer(({ url }, response) => {
    response.setHeader("content-type", url === "/json" ? "application/json" : "text/event-stream");
    let sent = 0;
    const write = (): void => {
      if (++sent > 40) return void response.end();
      if (response.destroyed) return;
      response.write(url === "/events" ? Buffer.concat([part, Buffer.from("\n\n")]) : part, write);
    };
    write();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bytes = async (path: string): Promise<number> =>
    (await (await limitedFetch(at + path)).arrayBuffer()).byteLength;
  await expect(bytes("/json")).rejects.toThrow(/\b16777216\b/);
  await expect(bytes("/event")).rejects.toThrow(/\b16777216\b/);
  expect(await bytes("/events")).toBe(40 * (part.length + 2));
  server.closeAllConnections();
  server.close();
});
