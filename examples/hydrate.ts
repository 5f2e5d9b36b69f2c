/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const thread = await holdfast.create({ title: "Invoice 17" });

// What the model saw at the start of the run, fully rendered, stands in an entry of its own: it is never part of `context()`.
const seeds = [
  { role: "system", content: "You answer for billing@example.org." },
  { role: "user", content: "From: anna@example.org\n\nIs invoice 17 paid?", isNew: true },
];
await thread.append([
  { type: "seed", id: "s1", run: "r-7", messages: seeds },
  { type: "run_start", run: "r-7", trigger: "email", triggerId: "mail-7", seed: "s1", seedCount: 2 },
  { type: "turn_start", turn: "t1", run: "r-7" },
  { type: "message", message: { role: "assistant", content: [{ type: "text", text: "Yes, on Monday." }] } },
  { type: "state_change", state: { invoice: 17 } },
  { type: "turn_end", turn: "t1", outcome: "completed" },
  { type: "run_end", run: "r-7", status: "completed" },
]);

const { run, messages, context, state, totals } = await holdfast.hydrate("r-7");
console.log(run.status, messages.length, totals.steps, state); // completed 1 1 { invoice: 17 }
console.log(context.system); // You answer for billing@example.org.
console.log(context.messages.map(({ role }) => role)); // [ 'user', 'assistant' ]
// The conversation's own context has one sentence in place of the seeds, and the answer.
console.log((await thread.context()).messages.length); // 2
