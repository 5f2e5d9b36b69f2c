/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const thread = await holdfast.create({ title: "Invoice 17" });

// The start of a run and its first turn. The key makes a second delivery of the same email harmless.
const begin = [
  { type: "run_start", run: "r-7", trigger: "email", triggerId: "mail-7", mailbox: "billing" },
  { type: "message", id: "p1", message: { role: "user", content: [{ type: "text", text: "Is it paid?" }] } },
  { type: "turn_start", turn: "t1", run: "r-7", prompt: "p1" },
] as const;
await thread.append(begin, { key: "run/email/mail-7" });
await thread.append(begin, { key: "run/email/mail-7" });

// What is appended within the turn belongs to its run.
const usage = { inputTokens: 1_200, outputTokens: 40, cacheReadTokens: 1_000, costMicros: 910 };
const content = [{ type: "text", text: "Yes." }] as const;
await thread.append([
  { type: "message", message: { role: "assistant", model: "m", content, usage } },
  { type: "turn_end", turn: "t1", outcome: "completed" },
  { type: "run_end", run: "r-7", status: "completed" },
]);

const run = await thread.latestRun();
console.log(run?.status, run?.steps, run?.prompts, run?.usage.costMicros); // completed 1 1 910

// All runs of the space, by the time they began.
for await (const { run: id, conversation, trigger } of holdfast.runs({ mailbox: "billing" }))
  console.log(id, conversation, trigger);
console.log((await holdfast.run("r-7"))?.highWater);
