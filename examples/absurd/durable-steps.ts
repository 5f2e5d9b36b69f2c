/* oxlint-disable no-console */
import { Absurd } from "absurd-sdk";
import { openHoldfast } from "../../src/index.ts";
import { Agent, absurdSteps, absurdWorkerOptions } from "../../src/agent/index.ts";

// node durable-steps.ts postgres://… where Absurd's SQL has been loaded.
const [, , database = ""] = process.argv;

await using holdfast = await openHoldfast({ store: "sqlite:log.db" });
await using agent = new Agent(holdfast, { model: "sim" });

const app = new Absurd({ db: database, queueName: "turns" });
await app.createQueue();
app.registerTask<{ chat: string; words: string }>({ name: "turn" }, async ({ chat, words }, context) => {
  const { text } = await agent.send(chat, words, { steps: absurdSteps(context) });
  return text;
});

// In a worker's process. Without these options Absurd ends it when a task takes twice its claim.
await app.startWorker(absurdWorkerOptions({ claimTimeout: 30, concurrency: 4 }));

// Wherever a message comes in.
const chat = await holdfast.create({ title: "Invoices" });
const params = { chat: chat.id, words: "remember open=2" };
const { taskID } = await app.spawn("turn", params, { idempotencyKey: "message-17" });
console.log(await app.awaitTaskResult(taskID));
await app.close();
