import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, expect, test } from "vitest";
import { runHere } from "../cli-here.ts";
import { runCli, jsonLines } from "../cli-run.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function keepTrack(store: string): string {
  if (!store.includes("holdfast-demo-")) throw new RangeError(`${store} is not a store of the demo`);
  folders.push(dirname(store.replace("sqlite:", "")));
  return store;
}

interface Summary {
  readonly kept: boolean;
  readonly promises: Readonly<Record<string, boolean>>;
  readonly answers: Readonly<Record<string, string>>;
  readonly sent: Readonly<Record<string, number>>;
  readonly chain: readonly { readonly id: string; readonly reason: string }[];
  readonly killed: { readonly signal: string };
  readonly store: string;
}

test("the demo keeps every promise while every fault strikes, one of them a real SIGKILL", async () => {
  const { status, out, err } = await runCli("memory:", ["demo", "--fast", "--json"]);
  const [summary] = jsonLines(out) as readonly unknown[] as readonly [Summary];
  const store = keepTrack(summary.store);
  expect({ status, err }).toEqual({ status: 0, err: "" });
  expect(Object.values(summary.promises)).not.toContain(false);
  expect(summary.killed.signal).toBe("SIGKILL");
  expect(summary.answers).toEqual({
    guest: "Ada",
    venue: "orchard",
    cake: "lemon",
    budget: "900",
    music: "jazz",
  });
  expect(Object.values(summary.sent)).toEqual([1, 1, 1]);
  expect(summary.chain.map(({ reason }) => reason)).toEqual([
    "first",
    "empty",
    "rolled_by_upstream",
    "expired",
    "lost",
  ]);
  const chain = await runHere(store, ["chain", "party", "--json"]);
  expect(jsonLines(chain.out)).toMatchObject([{ links: summary.chain }]);
  const usage = jsonLines((await runHere(store, ["usage", "party", "--json"])).out);
  expect(usage).toMatchObject([
    { rows: [{ name: "sim-agent" }], total: { costMicros: 0, unpricedAnswers: 0 } },
  ]);
  expect((await runHere(store, ["doctor"])).status).toBe(0);
});

test("the demo as people see it fits a terminal and points onward", async () => {
  const { status, out, err } = await runCli("memory:", ["demo"]);
  keepTrack(/sqlite:\S+/.exec(out)?.[0] ?? "");
  expect({ status, err }).toEqual({ status: 0, err: "" });
  expect(out).not.toContain("BROKEN");
  expect(out).toContain("holdfast ui");
  expect(out).toContain("holdfast chat");
  expect(out.split("\n").filter((line) => line.endsWith(" "))).toEqual([]);
});
