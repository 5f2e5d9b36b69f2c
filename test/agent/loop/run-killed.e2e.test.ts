/**
 * Goal: a run that was triggered is carried once, wherever its process dies.
 * Method: real processes are handed the same email one after the other; each but the last dies by SIGKILL at a site of the
 * run's start: before it is written, behind it, behind the turn's start, behind the first attempt. The last is handed it twice.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHoldfast } from "#open";
import { judgeConversation } from "#testing/index";
import { runProgram } from "../../support/process-life.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { said } from "../rig.ts";

const program = join(import.meta.dirname, "run-host.ts");
const SITES = ["start/before", "start/after", "turn/after", "attempt/after"];

test.concurrent.each(["sqlite", "jsonl"] as const)(
  "killed between its start and its first step and triggered again, a run is one, with one set of messages, in the %s store",
  async (kind) => {
    using dir = tempDir();
    const path = join(dir.path, kind === "sqlite" ? "log.db" : "logs");
    const store = `${kind}:${path}`;
    {
      await using holdfast = await openHoldfast({ store });
      for (const id of ["seeded", "prompted"]) await holdfast.create({ id });
    }
    const rows: number[] = [];
    for (const site of SITES) {
      expect(await runProgram(program, kind, path, site)).toMatchObject({ signal: "SIGKILL", stderr: "" });
      await using holdfast = await openHoldfast({ store });
      rows.push((await Array.fromAsync(holdfast.runs({ mailbox: "billing" }))).length);
    }
    expect(rows).toEqual([0, 2, 2, 2]);
    for (let times = 0; times < 2; times++) {
      const { signal, stdout, stderr } = await runProgram(program, kind, path, "none");
      expect([signal, stderr]).toEqual(["null", ""]);
      const paid = ["completed", "Paid."];
      expect(JSON.parse(stdout)).toEqual([paid, paid]);
    }
    await using holdfast = await openHoldfast({ store });
    for (const id of ["seeded", "prompted"]) {
      const conversation = await holdfast.conversation(id);
      const [asked, ...answer] = await said(conversation);
      expect([asked === "user: Is it paid?", answer]).toEqual([id === "prompted", ["assistant: Paid."]]);
      const [run, ...others] = await conversation.runs();
      expect(others).toEqual([]);
      expect(run).toMatchObject({ trigger: { type: "email", id: "mail-7" }, status: "completed" });
      expect(run).toMatchObject({ steps: 1, prompts: 1, usage: { inputTokens: 100, outputTokens: 10 } });
      expect(await conversation.facts(["run_start", "turn_start"])).toHaveLength(2);
      expect(await judgeConversation(conversation)).toEqual([]);
    }
  },
);
