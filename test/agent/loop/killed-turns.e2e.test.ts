/**
 * Goal: a turn of the loop survives its process, wherever that dies. Method: real processes carry turns with tools, a steer, an
 * approval and a compaction over a real store and a scripted model's service on loopback, and die by SIGKILL at every site
 * of kill-sites.ts; another process goes on with each. Here every site once and every kind of site over both wires and stores;
 * in the soak lane every site over every wire and store, and the process that goes on is killed as well: more than 200 kills.
 */
import { expect, test } from "vitest";
import { KILL_SITES, type KillSite, sampleOfKills } from "../../support/kill-sites.ts";
import { KilledTurns, type KilledWire } from "../../support/killed-turns.ts";
import { tempDir } from "../../support/temp-dir.ts";

const SOAK = process.env["HOLDFAST_SOAK"] !== undefined;
const WIRES: readonly KilledWire[] = ["anthropic", "openai"];
const STORES = ["sqlite", "jsonl"] as const;
const PLACES = STORES.flatMap((store) => WIRES.map((wire) => ({ store, wire })));

interface Case {
  readonly id: string;
  readonly store: (typeof STORES)[number];
  readonly wire: KilledWire;
  readonly site: KillSite;
  readonly next: KillSite | null;
}

/** Where each is killed, and where the process after it: at every site over every wire and store in the soak lane, else a sample. */
const CASES: readonly Case[] = SOAK
  ? PLACES.flatMap(({ store, wire }) =>
      KILL_SITES.map((site, at): Case => {
        const small = site.startsWith("summary") || at % 3 === 0 ? "-small" : "";
        const next = KILL_SITES[(at * 7 + WIRES.indexOf(wire) * 3 + 5) % KILL_SITES.length] ?? null;
        return { id: `${at}-${wire}${small}`, store, wire, site, next };
      }),
    )
  : sampleOfKills(PLACES).map(({ site, place: { store, wire } }, at): Case => {
      const small = site.startsWith("summary") ? "-small" : "";
      return { id: `${at}-${wire}${small}`, store, wire, site, next: null };
    });

/** Behind these the first email was promised and not sent; nobody sends it later. */
const NEVER_SENT: ReadonlySet<string> = new Set(["intent/after", "act/before"]);

test.concurrent.each(STORES)(
  "a turn that is killed anywhere is gone on with, nothing lost and nothing twice, in the %s store",
  async (kind) => {
    using dir = tempDir();
    await using turns = await KilledTurns.start(kind, dir.path);
    const cases = CASES.filter(({ store }) => store === kind);
    const ids = cases.map(({ id }) => id);
    await turns.create(ids);
    for (const { id, wire, site, next } of cases) {
      const { signal, stderr } = await turns.life(wire, site, [id]);
      expect({ id, site, signal, stderr }).toEqual({ id, site, signal: "SIGKILL", stderr: "" });
      if (next !== null) expect((await turns.life(wire, next, [id])).stderr).toBe("");
    }
    for (const wire of WIRES) {
      const left = cases.filter((one) => one.wire === wire).map(({ id }) => id);
      const { signal, stderr } = await turns.life(wire, "none", left);
      expect([signal, stderr]).toEqual(["null", ""]);
    }
    expect(await turns.faults(ids)).toEqual([]);
    for (const { id, site, next } of cases) {
      const sent = turns.acts(id).filter(({ tool }) => tool === "mail").length;
      const most = NEVER_SENT.has(site) ? 1 : 2;
      expect([id, sent]).toEqual([id, next === null ? most : Math.min(sent, most)]);
    }
    console.log(`${kind}: ${turns.kills} kills of ${ids.length} turns`);
    expect(turns.kills).toBeGreaterThanOrEqual(SOAK ? 100 : ids.length);
  },
);
