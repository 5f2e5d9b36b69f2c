import { beforeAll, expect, test } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import { openHoldfast } from "#open";
import { tempDir } from "../../../support/temp-dir.ts";
import { agentSessionCases } from "./agent-session-cases.ts";
import { listCases } from "./list-cases.ts";
import { matrixCases } from "./matrix-cases.ts";
import { memoryCases } from "./memory-cases.ts";
import { readCases } from "./read-cases.ts";
import { replayCases } from "./replay-cases.ts";
import { routeCases } from "./write-cases.ts";
import type { StoreAddress } from "./route-rig.ts";
import { ALL_OPERATIONS, exercised } from "../served.ts";
import { transferCases } from "./transfer-cases.ts";
import { turnCases } from "./turn-cases.ts";

/** Every route by the typed client, on a store of this kind; one that no case has asked for fails. */
export function everyRoute(kind: string, storeOf: StoreAddress): void {
  const open = async (): Promise<Holdfast> => {
    const folder = tempDir();
    const holdfast = await openHoldfast({ store: storeOf(folder.path) ?? "memory:" });
    const close = holdfast.close.bind(holdfast);
    holdfast.close = async () => {
      await close();
      folder[Symbol.dispose]();
    };
    return holdfast;
  };
  beforeAll(() => exercised.clear());
  for (const cases of [readCases, routeCases]) cases(kind, storeOf);
  for (const cases of [transferCases, memoryCases, replayCases, turnCases, agentSessionCases, listCases])
    cases(kind, open);
  // What databases and their threads refuse is of interest; memory refuses nothing of its own.
  if (kind !== "memory") matrixCases(kind, open);

  test(`${kind}: every route of the OpenAPI document was exercised by the client`, () => {
    expect(ALL_OPERATIONS.map(([name]) => name).filter((name) => !exercised.has(name))).toEqual([]);
  });
}
