/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";

await using holdfast = await openHoldfast({ store: "sqlite:chats.db" });
await holdfast.create({ title: "Worth keeping" });
const { bytes, conversations } = await holdfast.backup("chats-2026-11-15.db");
console.log(bytes > 0, conversations);
