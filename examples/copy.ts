/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";
import { copySpace } from "../src/transfer/index.ts";

await using from = await openHoldfast({ store: "jsonl:chats" });
await using to = await openHoldfast({ store: "sqlite:chats.db" });
const chat = await from.create({ title: "On its way" });
await chat.fork({ id: "aside" });

const first = await copySpace(from, to);
console.log(`${first.copied} conversations, ${first.entries} entries`);

await chat.title("Arrived");
const again = await copySpace(from, to);
console.log(`${again.copied} conversation, ${again.entries} entry`, again.left);
