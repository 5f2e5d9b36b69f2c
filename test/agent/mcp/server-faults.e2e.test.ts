/** What is said when a server cannot be opened: why, and none of its secrets. */
import { describe, expect, test } from "vitest";
import { checkServers, type McpServer } from "#agent/mcp/mcp-server";
import { McpServers } from "#agent/mcp/mcp-servers";
import { openingFault, withoutCredentials } from "#agent/mcp/mcp-connection";

const program: McpServer = {
  name: "s",
  command: "serve",
  args: ["--token=T0KEN-1", "--api-key", "KEY-0002", "--mode", "stdio-mode", "A=b"],
  env: { PASSWORD: "hush-hush", SHORT: "on" },
};
const service: McpServer = {
  name: "s",
  url: "http://127.0.0.1:1/mcp?key=QUERY-3",
  headers: { Authorization: "Bearer HEADER-4" },
};

describe("what is said of a server", () => {
  test("has nothing of what it was given in confidence, and all the rest", () => {
    const said = "T0KEN-1 KEY-0002 hush-hush turned on in stdio-mode";
    expect(withoutCredentials(program, said)).toBe("[hidden] [hidden] [hidden] turned on in stdio-mode");
    expect(
      withoutCredentials(service, `GET ${"url" in service ? service.url : ""}: HEADER-4 is no key`),
    ).toBe("GET http://127.0.0.1:1/mcp?[hidden]: [hidden] is no key");
  });

  test("says why it could not be opened", () => {
    const fault = (server: McpServer, error: unknown): string => openingFault(server, error, 30_000);
    const late = Object.assign(new Error("Request timed out"), { code: -32_001 });
    expect(fault(program, late)).toBe("it did not answer within 30 seconds");
    const none = Object.assign(new Error("spawn serve ENOENT"), { code: "ENOENT" });
    expect(fault(program, none)).toBe("program serve not found");
    expect(fault({ ...program, cwd: "/gone" }, none)).toBe("program serve or folder /gone not found");
    const refused = new Error("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") });
    expect(fault(service, refused)).toBe("fetch failed: connect ECONNREFUSED 127.0.0.1:1");
    expect(fault(service, "words")).toBe("words");
  });

  test("a password in its address is refused without being repeated", () => {
    const given = [{ name: "s", url: "https://ada:hush-hush@example.com/mcp" }];
    expect(() => checkServers(given)).toThrow(
      expect.objectContaining({ code: "invalid_request", details: { server: "s" } }),
    );
    expect(() => checkServers(given)).not.toThrow(/hush/);
  });
});

test("the first words of a server that ends at once are told, however it ends, and none of its secrets", async () => {
  const script = 'echo "no licence for $KEY" >&2; exit 3';
  const env = { KEY: "hush-hush" };
  await using servers = new McpServers([{ name: "s", command: "/bin/sh", args: ["-c", script], env }]);
  const [state] = await servers.open();
  expect(state?.problems[0]).toMatch(/exit code 3\W.*: no licence for \[hidden\]/);
});

test("a service that nobody serves is told with the reason, without its query", async () => {
  await using servers = new McpServers([service]);
  const [state] = await servers.open();
  expect(state).toMatchObject({ state: "failed" });
  expect(state?.problems[0]).toMatch(/fetch failed: .+/);
  expect(state?.problems[0]).not.toContain("QUERY-3");
});
