import { Agent } from "../src/agent/index.ts";
import { directSteps, engineSteps } from "../src/agent/steps/engine-steps.ts";
import { openHoldfast } from "../src/open.ts";
import { ASKED, StreamingModel } from "./agent-loop.ts";
import { fill } from "./history.ts";
import type { Row } from "./report.ts";
import { alternate } from "./sample.ts";
import { MESSAGE_CHARS, type Stage } from "./stage.ts";

const STEPS = 20;
const HISTORY = 200;
const LONG_STEPS = 60;
const OUTPUT_CHARS = 20_000;

/** What durable steps add to a turn, and what an engine keeps of it. */
export async function measureSteps(stage: Stage): Promise<readonly Row[]> {
  return [await measureTime(stage), ...(await measureBytes(stage))];
}

async function measureTime(stage: Stage): Promise<Row> {
  await using holdfast = await openHoldfast({ store: `sqlite:${stage.path("steps.db")}` });
  const conversation = await holdfast.create({ id: "steps" });
  await fill(conversation, { messages: HISTORY, chars: MESSAGE_CHARS });
  const model = new StreamingModel();
  model.shape = { updates: 1, calls: STEPS };
  const tool = { name: "look", effect: "none", run: async () => "seen" } as const;
  const agent = new Agent(holdfast, { model, tools: [tool], instructions: false, compaction: null });
  const { leaf } = await conversation.head();
  const before = (): Promise<unknown> => conversation.goTo(leaf.id);
  let tasks = 0;
  const ours = {
    before,
    run: () => agent.send(conversation, ASKED, { steps: directSteps(`task-${++tasks}`) }),
  };
  const bare = { before, run: () => agent.send(conversation, ASKED) };
  const times = await alternate({ ours, bare }, stage.plan(30, 15_000));
  const value = ((times.ours.medianMs - times.bare.medianMs) / (STEPS + 1)) * 1_000;
  return {
    work: `durable steps, added to a step with a tool, ${HISTORY} messages before it`,
    against: "the loop alone",
    value,
    unit: "us",
    budget: null,
    ours: times.ours,
    theirs: times.bare,
  };
}

async function measureBytes(stage: Stage): Promise<readonly Row[]> {
  await using holdfast = await openHoldfast({ store: `sqlite:${stage.path("steps-bytes.db")}` });
  const conversation = await holdfast.create({ id: "bytes" });
  const model = new StreamingModel();
  model.shape = { updates: 20, calls: LONG_STEPS };
  const tool = { name: "look", effect: "none", run: async () => "x".repeat(OUTPUT_CHARS) } as const;
  const agent = new Agent(holdfast, { model, tools: [tool], instructions: false, compaction: null });
  let [pointers, appended, whole, seen, steps] = [0, 0, 0, 0, 0];
  await agent.send(conversation, ASKED, {
    steps: engineSteps({
      engine: "bench",
      taskId: "bytes",
      async run(_, body) {
        const value = await body();
        const log = await Array.fromAsync(conversation.log({ types: ["message"] }));
        const all = log.reduce((sum, { payload }) => sum + payload.length, 0);
        pointers += JSON.stringify(value).length;
        appended += all - seen;
        whole += all;
        seen = all;
        steps++;
        return value;
      },
    }),
  });
  const each = Math.round(pointers / steps);
  const row = (work: string, bytes: number): Row => ({
    work: `${work} in an engine, ${steps} steps with ${OUTPUT_CHARS / 1_000} kB each`,
    against: "a pointer for each",
    value: bytes / pointers,
    unit: "x",
    budget: null,
    ours: null,
    theirs: null,
    note: `${bytes} bytes against ${pointers}, ${each} a step`,
  });
  return [row("the messages of each step", appended), row("all messages at each step", whole)];
}
