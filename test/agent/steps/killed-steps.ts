import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { judgeConversation } from "#testing/index";
import { runProgram } from "../../support/process-life.ts";
import type { OpenLane } from "./lane.ts";
import type { LogPlace } from "./log-place.ts";
import { StepRig } from "./step-rig.ts";

const program = join(import.meta.dirname, "steps-worker.ts");

/** A worker that dies at one point, and what was done in the world once another has gone on. */
export interface KilledCase {
  readonly name: string;
  readonly site: string;
  readonly journal: readonly string[];
  /** What the mail's result says in the end. */
  readonly mail: "sent" | "unknown";
}

const ALL = ["ask 1", "act", "ask 2"];

export const KILLED_CASES: readonly KilledCase[] = [
  {
    name: "killed behind the prompt: nothing was asked twice",
    site: "append 1/prompt",
    journal: ALL,
    mail: "sent",
  },
  {
    name: "killed in the body, before the append: the body runs once more (scenario 2)",
    site: "ask 1",
    journal: ["ask 1", ...ALL],
    mail: "sent",
  },
  {
    name: "killed behind the append, before the checkpoint: one copy, and the body does not run again (scenario 1)",
    site: "append 1",
    journal: ALL,
    mail: "sent",
  },
  {
    name: "killed between the intent and the result: nobody knows, and the tool does not run again (scenario 3)",
    site: "act",
    journal: ALL,
    mail: "unknown",
  },
  {
    name: "killed in the second step's body: the tool's result is kept, the model is asked once more (scenario 2)",
    site: "ask 2",
    journal: ["ask 1", "act", "ask 2", "ask 2"],
    mail: "sent",
  },
  {
    name: "killed behind the turn's end: nothing runs again (scenario 1)",
    site: "append 2",
    journal: ALL,
    mail: "sent",
  },
];

export interface KilledLane {
  readonly kind: "direct" | "openworkflow" | "absurd";
  readonly open: OpenLane;
  /** Where the engine is, for a folder of the test. */
  address(dir: string): string;
  /** Where the log is; in SQLite unless told. */
  readonly log?: LogPlace;
}

export async function checkKilled({ site, journal, mail }: KilledCase, lane: KilledLane): Promise<void> {
  let address = "";
  await using rig = await StepRig.start((dir) => lane.open((address = lane.address(dir))), lane.log);
  const task = await rig.lane.spawn({ conversation: "c", prompt: "write to bob" });
  const file = rig.path("journal");
  const life = (at: string): ReturnType<typeof runProgram> =>
    runProgram(program, lane.kind, address, rig.address(), file, at);
  expect(await life(site)).toMatchObject({ signal: "SIGKILL", stderr: "" });
  await rig.lane.lapse(task);
  expect(await life("none")).toMatchObject({ signal: "null", stderr: "" });
  const done = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  expect(done).toEqual(journal);
  const result = await rig.lane.result(task);
  expect(result).toMatchObject({ outcome: "completed", text: "It is sent." });
  const conversation = await rig.conversation();
  const messages = await rig.messages();
  expect(messages.filter((payload) => payload.includes('"role":"user"'))).toHaveLength(1);
  expect(messages.filter((payload) => payload.includes('"role":"assistant"'))).toHaveLength(2);
  expect(messages.filter((payload) => payload.includes("Writing."))).toHaveLength(1);
  const [effect] = await conversation.effects();
  expect(effect?.state).toBe(mail === "sent" ? "done" : "unknown");
  expect(await judgeConversation(conversation)).toEqual([]);
  // What the answers used is counted once, and the result says the same.
  const { inputTokens } = await conversation.usage();
  expect([inputTokens, Object(result).usage.inputTokens]).toEqual([200, 200]);
}
