/* oxlint-disable no-console */
import { assistant, openHoldfast, user } from "../src/index.ts";

await using holdfast = await openHoldfast({ store: "sqlite:chat.db" }); // or jsonl:DIR, memory:
const chat = await holdfast.create({ title: "Fix the tests", cwd: "/repo" });

await chat.append(user("Fix the tests"));
const { messages } = await chat.context(); // what to send to the model, tool pairs whole
await chat.append(assistant("Done.", { model: "example-2" }), { key: "run-7/turn-1" }); // a retry writes nothing twice
const { entries, cursor } = await chat.history(); // what people read: the last 50, then older by the cursor

const other = await chat.fork(); // shares the past, costs one row, never changes its source
await chat.label(messages[0]?.entryId ?? "", "start"); // from anywhere, also while a turn runs
console.log(entries.length, cursor, (await other.context()).messages.length);
