/* oxlint-disable no-console */
import { Absurd } from "absurd-sdk";
import pg from "pg";
import { openHoldfast } from "../../src/index.ts";
import { Agent, absurdSteps, absurdWorkerOptions } from "../../src/agent/index.ts";
import { postgresStore } from "../../src/stores/postgres/index.ts";

// node same-database.ts postgres://… where Absurd's SQL has been loaded.
const [, , database = ""] = process.argv;

// One pool for both: the queue is in the schema absurd, the log in the schema holdfast.
const pool = new pg.Pool({ connectionString: database, max: 10 });
await using store = await postgresStore({ pool, schema: "holdfast" });
await using holdfast = await openHoldfast({ store });
await using agent = new Agent(holdfast, { model: "sim" });

const app = new Absurd({ db: pool, queueName: "turns" });
await app.createQueue();
app.registerTask<{ chat: string; words: string }>({ name: "turn" }, async ({ chat, words }, context) => {
  const { text } = await agent.send(chat, words, { steps: absurdSteps(context) });
  return text;
});
const worker = await app.startWorker(absurdWorkerOptions({ claimTimeout: 30, concurrency: 4 }));

const chat = await holdfast.create({ title: "Invoices" });
const params = { chat: chat.id, words: "remember open=2" };
const { taskID } = await app.spawn("turn", params, { idempotencyKey: "message-17" });
console.log(await app.awaitTaskResult(taskID));

// All that the queue keeps of a step is where it is in the log.
const { rows } = await pool.query("select checkpoint_name, state from absurd.c_turns where task_id = $1", [
  taskID,
]);
console.log(rows);
await worker.close();
await pool.end();
