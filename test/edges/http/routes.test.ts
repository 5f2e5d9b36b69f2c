import { join } from "node:path";
import { expect, test } from "vitest";
import { OPERATIONS } from "#edges/http/routes/api";
import { MEMORY_ROUTES } from "#edges/http/routes/memory-api";
import { SERVER_ROUTES } from "#edges/http/routes/server-api";
import { REPLAY_ROUTES } from "#edges/http/replays/replay-api";
import { TRANSFER_ROUTES } from "#edges/http/transfers/transfer-api";
import { TURN_ROUTES } from "#edges/http/routes/turn-api";
import { readCases } from "./read-cases.ts";
import { routeCases } from "./route-cases.ts";
import { exercised } from "./served.ts";

for (const cases of [readCases, routeCases]) {
  cases("sqlite", (folder) => `sqlite:${join(folder, "store.db")}`);
  cases("memory", () => null);
}

test("every route of the table was exercised by the client", () => {
  const others = { ...SERVER_ROUTES, ...MEMORY_ROUTES, ...TURN_ROUTES, ...TRANSFER_ROUTES, ...REPLAY_ROUTES }; // in tests of their own
  const names = OPERATIONS.map(([name]) => name).filter((name) => !exercised.has(name));
  expect(names.filter((name) => !(name in others))).toEqual([]);
});
