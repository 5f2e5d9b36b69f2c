/* oxlint-disable no-console */
import { OpenWorkflow } from "openworkflow";
import { BackendSqlite } from "openworkflow/sqlite";
import { openHoldfast } from "../src/index.ts";
import { Agent, openWorkflowSteps } from "../src/agent/index.ts";

await using holdfast = await openHoldfast({ store: "sqlite:log.db" });
await using agent = new Agent(holdfast, { model: "sim" });

const engine = new OpenWorkflow({ backend: BackendSqlite.connect("workflows.db") });
const turn = engine.defineWorkflow<{ chat: string; words: string }, string>(
  { name: "turn" },
  async ({ input, step, run }) => {
    const { text } = await agent.send(input.chat, input.words, { steps: openWorkflowSteps({ step, run }) });
    return text;
  },
);

// In a worker's process; any number of them, on any machine that has both databases.
const worker = engine.newWorker();
await worker.start();

// Wherever a message comes in.
const chat = await holdfast.create({ title: "Invoices" });
const handle = await turn.run({ chat: chat.id, words: "remember open=2" }, { idempotencyKey: "message-17" });
console.log(await handle.result());
await worker.stop();
