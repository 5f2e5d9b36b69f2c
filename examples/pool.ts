/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";
import { Agent } from "../src/agent/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const { id } = await holdfast.create({ title: "Invoices" });

await using agent = new Agent(holdfast, {
  model: "sim",
  pool: { mode: "hybrid", conversations: 500, processes: 20, idleMs: 1_800_000, address: "10.0.0.7:8080" },
});
const { pool } = agent;

// What a request handler does: the conversation comes warm, or restored from the log; it is the same either way.
const answer = await pool.with(id, async (chat) => {
  console.log("before:", chat.restored.messages.length, chat.restored.missing);
  const { text } = await chat.send("remember color=blue");
  return text;
});
console.log(answer, pool.use());

// What a router asks, in any process: where the next request is answered soonest. A hint; every host gives the same answer.
const holder = await (await holdfast.conversation(id)).holder();
console.log(holder?.address);
