import { expect, test } from "vitest";
import type { Call } from "#edges/cli/command";
import { Flags } from "#edges/cli/options";
import { logLines } from "#edges/cli/serve/run-server";
import type { ServerLog } from "#edges/http/index";

function logOf(flags: { readonly [name: string]: string }): {
  readonly log: ServerLog;
  readonly lines: () => readonly string[];
} {
  let text = "";
  const err = { write: async (more: string): Promise<void> => void (text += more) };
  const log = logLines(
    { flags: new Flags({ values: flags, spellings: {} }), io: { err } } as unknown as Call,
    "info",
  );
  return { log, lines: () => text.split("\n").slice(0, -1) };
}

const FIELDS = { requestId: "r", route: "setTitle", status: 200, ms: 1.5, space: "default" };

test("as JSON each line has its time, level and message beside its fields, and text of a client forges no line", () => {
  const { log, lines } = logOf({ "log-format": "json" });
  log("info", "Request", { ...FIELDS, path: "/x\n{}" });
  expect(lines().map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      level: "info",
      message: "Request",
      ...FIELDS,
      path: "/x\n{}",
    },
  ]);
});

test("as text a line has the same fields, and text of a client is quoted", () => {
  const { log, lines } = logOf({});
  log("warn", "Request refused", { ...FIELDS, path: "/x\n2026 error forged=1\u001b[2J", code: undefined });
  const [line = "", ...more] = lines();
  expect(more).toEqual([]);
  expect(line).toMatch(
    /^\d{4}-\S+Z warn {2}Request refused requestId=r route=setTitle status=200 ms=1\.5 space=default path="/,
  );
  expect(line).not.toContain("\u001b");
});

test.each([
  ["debug", ["debug", "info", "warn", "error"]],
  ["info", ["info", "warn", "error"]],
  ["warn", ["warn", "error"]],
  ["error", ["error"]],
])("at the level %s there are lines of these levels: %j", (least, levels) => {
  const { log, lines } = logOf({ "log-level": least, "log-format": "json" });
  for (const level of ["debug", "info", "warn", "error"] as const) log(level, "x", {});
  expect(lines().map((line) => (JSON.parse(line) as { readonly level: string }).level)).toEqual(levels);
});

test("a format or level that does not exist is refused", () => {
  for (const flags of [{ "log-format": "xml" }, { "log-level": "all" }])
    expect(() => logOf(flags)).toThrow(expect.objectContaining({ code: "invalid_request" }));
});
