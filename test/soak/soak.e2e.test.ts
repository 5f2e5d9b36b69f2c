/**
 * Goal: whatever happens to servers, connections and the database, what clients were answered is true. Method: servers over one
 * store, clients that record every answer, faults by a seed, and a checker of the whole (check-history.ts, whose own test plants
 * bugs). With HOLDFAST_SOAK it takes 30 minutes for each store, or HOLDFAST_SOAK_MINUTES.
 */
import { expect, test } from "vitest";
import { soak } from "./soak.ts";

const SOAK = process.env["HOLDFAST_SOAK"] !== undefined;
const MINUTES = Number(process.env["HOLDFAST_SOAK_MINUTES"] ?? "30");

const QUICK = {
  clients: 16,
  conversations: 60,
  operations: 800,
  minutes: Number.POSITIVE_INFINITY,
  pace: Number.POSITIVE_INFINITY,
  faults: 10,
  silentMs: 500,
};
const LONG = {
  clients: 64,
  conversations: 64,
  operations: Number.POSITIVE_INFINITY,
  minutes: MINUTES,
  pace: 60,
  faults: MINUTES * 6,
  silentMs: 5_000,
};

test.each(
  SOAK
    ? [
        { store: "postgres", servers: 3 } as const,
        // One server, which is away while it is started anew.
        { store: "sqlite", servers: 1 } as const,
      ]
    : [{ store: "postgres", servers: 3 } as const],
)("$store: no answer of $servers servers turns out to be wrong, whatever fails", async (at) => {
  const seed = SOAK ? Date.now() % 1_000_000 : 24;
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const { violations, figures } = await soak({
    ...(SOAK ? LONG : QUICK),
    ...at,
    seed,
    sampleMs: 10_000,
    log,
  });
  if (SOAK) console.log(JSON.stringify({ seed, ...figures }));
  expect([seed, violations]).toEqual([seed, []]);
  expect(figures).toMatchObject({ erases: expect.any(Number) as number });
});
