/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";

await using hold = await openHoldfast({ store: "sqlite:chat.db" }); // or jsonl:DIR, memory:
const chat = await hold.create({ title: "Fix the tests", cwd: "/repo" });

await chat.append([
  { type: "message", message: { role: "user", content: [{ type: "text", text: "Fix the tests" }] } },
  { type: "model_change", model: "example-2" },
]);

const { messages, model } = await chat.context(); // what to send to the model, tool pairs whole
await chat.append(
  {
    type: "message",
    message: { role: "assistant", content: [{ type: "text", text: "Done." }], model: "example-2" },
  },
  { key: "run-7/turn-1" }, // a retry under this key writes nothing twice
);

const other = await chat.fork(); // shares the past, costs one row, never changes its source
await chat.label(messages[0]?.entryId ?? "", "start"); // from anywhere, also while a turn runs
for await (const entry of other.tail()) {
  console.log(model, entry.seq, entry.type);
  break; // a tail goes on for as long as you listen, whoever writes
}
