/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";
import { Agent } from "../src/agent/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const thread = await holdfast.create({ title: "Invoice 17" });
await using agent = new Agent(holdfast, { model: "sim", instructions: false });

// An email comes in. Whichever process is handed it, and however often: it starts one run.
const email = { type: "email", id: "<17@example.org>" };
const seeds = [
  { role: "system", content: "You answer for billing@example.org." },
  { role: "user", content: "From: anna@example.org\n\nremember invoice=17", isNew: true },
] as const;
const { run } = await agent.startRun(thread, email, { mailbox: "billing", seeds });
const again = await agent.startRun(thread, email);
console.log(again.run === run, again.repeated); // true true

// Its seeds end with what is to be answered, so it needs no prompt.
const answered = await agent.carryRun(thread, run);
console.log(answered.outcome, answered.run === run); // completed true

// A run of a chat goes on with the latest one: with its seeds, and what was said in it.
const chat = await agent.startRun(thread, { type: "chat", id: "1" });
console.log((await agent.send(thread, "recall invoice", { run: chat.run })).text); // 17

// A prompt of which nothing is said starts a run, too, and sends what the conversation says: no seeds.
await agent.send(thread, "hello");
for (const { trigger, status, steps, continues } of await thread.runs())
  console.log(trigger.type, status, steps, continues === run);
