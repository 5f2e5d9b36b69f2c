import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { TRANSFER_ROUTES } from "#edges/http/transfers/transfer-api";
import { openHoldfast } from "#open";
import { tempDir } from "../../support/temp-dir.ts";
import { exercised } from "./served.ts";
import { transferCases } from "./transfer-cases.ts";

const folder = tempDir();
afterAll(() => folder[Symbol.dispose]());
let made = 0;

transferCases("memory", () => openHoldfast({ store: "memory:" }));
transferCases("sqlite", () => openHoldfast({ store: `sqlite:${join(folder.path, `${++made}.db`)}` }));

test("every route about files was exercised by the client", () => {
  expect(Object.keys(TRANSFER_ROUTES).filter((name) => !exercised.has(name))).toEqual([]);
});
