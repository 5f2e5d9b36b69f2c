/** The rule of the house about time: a duration is never the difference of two dates. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const DATE = /\bDate\.now\b|\bnew Date\(\)|\bnowMs\(\)/;

// Who reads the date, and for what. How long something takes is measured by `clock.steadyMs()` or `performance.now()`.
const DATE_READERS: { readonly [why: string]: readonly string[] } = {
  "the clocks themselves": ["src/conversation/clock.ts", "src/testing/timeline.ts", "src/testing/world.ts"],
  "times and ids of entries": ["src/store/prepare.ts"],
  "leases, by the clock of the store alone": [
    "src/stores/in-memory/index.ts",
    "src/stores/indexed/indexed-reads.ts",
    "src/stores/indexed/indexed-writes.ts",
    "src/stores/jsonl/index.ts",
    "src/stores/postgres/index.ts",
    "src/stores/postgres/write/append.ts",
    "src/stores/postgres/write/ownership.ts",
    "src/stores/postgres/write/start.ts",
    "src/stores/sqlite/index.ts",
    "src/stores/sqlite/verbs.ts",
  ],
  "how far the database's clock is from this machine's": ["src/stores/postgres/check.ts"],
  "the age of files": ["src/stores/jsonl/jsonl-logs.ts"],
  "when an agent or a model is free again, as it said": [
    "src/agent/loop/ask-step.ts",
    "src/agent/models/ask-model.ts",
    "src/edges/acp/agent/turn-end.ts",
    "src/edges/cli/chat/headless.ts",
    "src/edges/cli/chat/turn-text.ts",
    "src/operations/conversations.ts",
    "src/operations/memory.ts",
    "src/upstream/sender.ts",
  ],
  "how long ago the log was written to": [
    "src/agent/memory/conversation-memory.ts",
    "src/agent/memory/memory.ts",
    "src/edges/acp/agent/acp-sessions.ts",
    "src/edges/acp/host/list-sessions.ts",
    "src/edges/cli/commands/list.ts",
    "src/edges/cli/commands/space-commands.ts",
    "src/edges/cli/chat/native-records.ts",
    "src/edges/cli/commands/runs.ts",
  ],
  "a date that a model, an agent, a file, a log line or a figure is given": [
    "src/agent/prompt/system-prompt.ts",
    "src/edges/acp/agent/acp-upstream.ts",
    "src/edges/cli/transfer/export.ts",
    "src/edges/cli/serve/run-server.ts",
    "src/edges/http/access/audit-log.ts",
    "src/edges/http/access/request-audit.ts",
    "src/operations/files.ts",
    "src/telemetry/open-telemetry.ts",
    "src/telemetry/metrics.ts",
    "src/transfer/bundles/export-bundle.ts",
  ],
  "the month that something is of": ["src/edges/http/access/idempotency-log.ts"],
  "what one server process hands to the next": ["src/edges/http/access/launch-codes.ts"],
  "what a command leaves in the store for a server": ["src/edges/http/access/stored-links.ts"],
  "the date in a simulated world": [
    "src/edges/cli/chat/demo-host.ts",
    "src/edges/cli/chat/demo.ts",
    "src/edges/cli/chat/host-process.ts",
    "src/testing/agent/simulated-turn.ts",
    "src/testing/agent/simulated-upstream.ts",
  ],
};

test("a date, which may be set forward or back, is read only for what is recorded, shown or compared with a recorded time", () => {
  for (const planted of [
    "untilMs = Date.now() + 5",
    "clock.nowMs() - startMs",
    "this.#nowMs()",
    "+new Date()",
  ])
    expect(planted).toMatch(DATE);
  expect("clock.steadyMs() + performance.now() + new Date(time)").not.toMatch(DATE);
  const readers = globSync("src/**/*.ts", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => DATE.test(readFileSync(join(root, file), "utf8")));
  expect(readers.toSorted()).toEqual(Object.values(DATE_READERS).flat().toSorted());
});

test("only a store compares the end of a lease with a date: clocks of machines differ", () => {
  const END = /\blease\b[^;]*\.untilMs\b|\buntilMs\b[^;]*\blease\b/;
  expect("lease !== null && lease.untilMs > clock.nowMs()").toMatch(END);
  expect("head.lease?.untilMs ?? 0").toMatch(END);
  const readers = globSync("src/**/*.ts", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !file.startsWith("src/stores/"))
    .filter((file) => END.test(readFileSync(join(root, file), "utf8")));
  // The rules of leases are given the store's clock; operations show the date.
  expect(readers.toSorted()).toEqual(["src/log/plans/lease.ts", "src/operations/conversations.ts"]);
});
