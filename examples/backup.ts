/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";

await using hold = await openHoldfast({ store: "sqlite:chats.db" });
await hold.create({ title: "Worth keeping" });
const { bytes, conversations } = await hold.backup("chats-2026-11-15.db");
console.log(bytes > 0, conversations);
