import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { REPLAY_ROUTES } from "#edges/http/replays/replay-api";
import { openHoldfast } from "#open";
import { tempDir } from "../../support/temp-dir.ts";
import { replayCases } from "./replay-cases.ts";
import { exercised } from "./served.ts";

const folder = tempDir();
afterAll(() => folder[Symbol.dispose]());
let made = 0;

replayCases("memory", () => openHoldfast({ store: "memory:" }));
replayCases("sqlite", () => openHoldfast({ store: `sqlite:${join(folder.path, `${++made}.db`)}` }));

test("every route about replays was exercised by the client", () => {
  expect(Object.keys(REPLAY_ROUTES).filter((name) => !exercised.has(name))).toEqual([]);
});
