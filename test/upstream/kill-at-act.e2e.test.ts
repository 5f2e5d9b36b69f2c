/**
 * Goal: what an agent in our own process does in the world it does once, however the process dies.
 * Method: real processes send emails through the runtime, five conversations each, and die by SIGKILL at the act of one
 * of them; the next life asks for every prompt again. 50 turns are killed per store here, in 50 deaths in the soak lane.
 * The outbox is a file outside the store.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHoldfast } from "#index";
import { runProgram } from "../support/process-life.ts";
import { tempDir } from "../support/temp-dir.ts";

const DEATHS = process.env["HOLDFAST_SOAK"] === undefined ? 10 : 50;
const TURNS = 5;
const MOMENTS = ["after", "before", "told"] as const;
const program = join(import.meta.dirname, "../support/kill-at-act.ts");

test.concurrent.each(["sqlite", "jsonl"])(
  "an email of an agent in our process goes out at most once, killed at the act and retried, in the %s store",
  async (kind) => {
    using dir = tempDir();
    const address = `${kind}:${join(dir.path, "store")}`;
    const outbox = join(dir.path, "outbox");
    const sent = (): readonly string[] =>
      existsSync(outbox) ? readFileSync(outbox, "utf8").trim().split("\n") : [];
    const all: string[] = [];
    /** Those at whose act the process died, and whether the email had gone out then. */
    const victims = new Map<string, boolean>();
    for (let death = 0; death < DEATHS; death++) {
      const ids = Array.from({ length: TURNS }, (_, turn) => `act-${death}-${turn}`);
      await using holdfast = await openHoldfast({ store: address });
      for (const id of ids) await holdfast.create({ id });
      const moment = MOMENTS[death % MOMENTS.length] ?? "after";
      const victim = ids[(death * 3) % TURNS] ?? "";
      const died = await runProgram(program, address, outbox, moment, victim, ...ids);
      expect(died).toMatchObject({ signal: "SIGKILL", stdout: "", stderr: "" });
      expect(sent().includes(victim)).toBe(moment !== "before");
      victims.set(victim, moment !== "before");
      all.push(...ids);
    }
    const { signal, stdout, stderr } = await runProgram(program, address, outbox, "retry", "", ...all);
    expect([signal, stderr]).toEqual(["null", ""]);
    const lines = stdout.trim().split("\n");
    const came = new Map(
      lines
        .map((line) => JSON.parse(line) as [string, string, ...string[]])
        .map((one) => [one[0], one.slice(1)]),
    );
    const outboxNow = sent();
    for (const id of all) {
      const times = outboxNow.filter((one) => one === id).length;
      const [retried, ...effects] = came.get(id) ?? [];
      // Sent again only where no tool may have started; otherwise told as done, or as unknown.
      const sentOnce = retried === "completed" && times === 1 && String(effects) === "done";
      const kept = retried === "invalid_request" && times <= 1 && /^(unknown|done)$/.test(String(effects));
      expect({ id, times, retried, effects, right: sentOnce || kept }).toMatchObject({ right: true });
      if (victims.has(id))
        expect([id, retried, times]).toEqual([id, "invalid_request", victims.get(id) === true ? 1 : 0]);
    }
  },
);
