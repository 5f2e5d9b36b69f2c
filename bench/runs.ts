import type { Conversation } from "../src/conversation/conversation.ts";
import type { Holdfast } from "../src/conversation/holdfast.ts";
import { openHoldfast } from "../src/open.ts";
import type { EntryBody } from "../src/log/entry.ts";
import type { Run } from "../src/log/runs/run-row.ts";
import { BareReader } from "./bare.ts";
import { bodyOf, fill, saidAt, textOf } from "./history.ts";
import { type Row, slower } from "./report.ts";
import { alternate, type Side, type Timing, timingNamed } from "./sample.ts";
import { MESSAGE_CHARS, sizeText, type Stage } from "./stage.ts";

const STEPS = 50; // of a run at work: a call and its result each

/** A run in the middle of a conversation of a known size. */
interface SizedRun {
  readonly size: number;
  readonly conversation: Conversation;
  readonly run: Run;
  readonly middle: string;
}

/** A run given back, against the bare rows of its time; and forked from, in conversations of every size. */
export async function measureRuns(stage: Stage): Promise<readonly Row[]> {
  const path = stage.path("runs.db");
  await using holdfast = await openHoldfast({ store: `sqlite:${path}` });
  const sized: SizedRun[] = [];
  for (const size of stage.sizes) {
    stage.say(`building a conversation of ${sizeText(size)} entries around a run`);
    sized.push(await buildRun(holdfast, size));
  }
  using bare = new BareReader(path);
  const window = bare.arrays(
    "SELECT v, id, seq, parent, time, type, payload FROM entries WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq",
  );
  const sides: { [name: string]: Side } = {};
  for (const { size, conversation, run, middle } of sized) {
    const row = bare.rowOf(conversation.id);
    await checkSame(holdfast, run);
    sides[`hydrate ${size}`] = { run: () => holdfast.hydrate(run.run) };
    sides[`bare ${size}`] = {
      run: () => {
        for (const read of window.all(row, run.startSeq, run.highWater) as unknown as string[][])
          JSON.parse(read[6] ?? "");
      },
    };
    sides[`fork ${size}`] = { run: () => holdfast.forkRun(run.run, { at: middle, model: "p/other" }) };
  }
  const timings = await alternate(sides, stage.plan(400, 20_000));
  const timing = (name: string): Timing => timingNamed(timings, name);
  const rows = stage.sizes.map((size) =>
    slower(
      `hydrate a run of ${STEPS} steps, ${sizeText(size)} entries`,
      "bare SELECT of its time + JSON.parse",
      {
        ours: timing(`hydrate ${size}`),
        theirs: timing(`bare ${size}`),
        budget: { atMost: 2 },
      },
    ),
  );
  const [smallest = 0, largest = 0] = [stage.sizes[0], stage.sizes.at(-1)];
  const flat = (work: string, name: string): Row =>
    slower(`${work}, ${sizeText(largest)} entries`, `ours at ${smallest} entries`, {
      ours: timing(`${name} ${largest}`),
      theirs: timing(`${name} ${smallest}`),
      budget: { atMost: 1.3 },
    });
  return [...rows, flat(`hydrate a run of ${STEPS} steps`, "hydrate"), flat("fork from a run", "fork")];
}

async function buildRun(holdfast: Holdfast, size: number): Promise<SizedRun> {
  const conversation = await holdfast.create({ id: `run-${size}` });
  const around = Math.floor(size / 2);
  await fill(conversation, { messages: around, chars: MESSAGE_CHARS });
  const [run, middle] = [`r-${size}`, `middle-${size}`];
  const seeds = [0, 1, 2, 3].map((n) => ({ role: "user", content: textOf(n, MESSAGE_CHARS) }));
  await conversation.append([
    { type: "seed", id: `seed-${size}`, run, messages: seeds },
    { type: "run_start", run, trigger: "email", seed: `seed-${size}`, seedCount: seeds.length },
    { ...bodyOf(saidAt(0, MESSAGE_CHARS)), id: `prompt-${size}` },
    { type: "turn_start", turn: `t-${size}`, prompt: `prompt-${size}`, run },
  ]);
  for (let step = 0; step < STEPS; step++) await conversation.append(stepBodies(step, `t-${size}`, middle));
  await conversation.append([
    { type: "turn_end", turn: `t-${size}`, outcome: "completed" },
    { type: "run_end", run, status: "completed" },
  ]);
  await fill(conversation, { messages: size - around, chars: MESSAGE_CHARS });
  const found = await holdfast.run(run);
  if (found === null) throw new Error(`There is no run ${run}`);
  return { size, conversation, run: found, middle };
}

/** What the loop writes for a step: that it asks, what it hears, the answer, what it is about to do, and what came of it. */
function stepBodies(step: number, turn: string, middle: string): readonly EntryBody[] {
  const at = 4 * (step + 1);
  const call = `call-${step + 1}`;
  const named = step === STEPS / 2 ? { id: middle } : {};
  return [
    { type: "attempt", turn, model: "p/one", promptDigest: "0".repeat(64), toolsDigest: "0".repeat(64) },
    { type: "update", turn, data: { events: [{ type: "text", text: textOf(at + 1, MESSAGE_CHARS) }] } },
    { ...bodyOf({ ...saidAt(at + 1, MESSAGE_CHARS), call }), ...named },
    { type: "tool_intent", call, name: "bash", input: { command: "ls" }, turn, step: step + 1 },
    bodyOf({ ...saidAt(at + 2, MESSAGE_CHARS), call }),
  ];
}

/** What is timed must be all of the run, or the ratio means nothing. */
async function checkSame(holdfast: Holdfast, { run }: Run): Promise<void> {
  const { messages, context } = await holdfast.hydrate(run);
  if (messages.length !== 1 + 2 * STEPS || context.messages.length !== messages.length + 4)
    throw new Error("The run was not given back whole");
}
