/* oxlint-disable no-console */
import { isLogError, openHoldfast } from "../src/index.ts";

await using holdfast = await openHoldfast({ store: "sqlite:chats.db" });
const chat = await holdfast.create({ title: "A long turn" });

{
  // For as long as a turn lasts there is one writer; others are told to come back.
  await using turn = await chat.own({ writer: "agent-1", leaseMs: 30_000 });
  await turn.append({ type: "message", message: { role: "user", content: [{ type: "text", text: "Go" }] } });
  try {
    await chat.append({ type: "model_change", model: "example-2" });
  } catch (error) {
    if (!isLogError(error, "busy")) throw error;
    console.log("busy: the turn is not over");
  }
  // Titles, labels and steering come from outside and never get in its way.
  await chat.title("A long turn, renamed");
}

// Entries as they become durable, from any process; resume with the last seq you saw.
for await (const entry of chat.tail({ after: 1 })) {
  console.log(entry.seq, entry.type);
  if (entry.type === "title" && entry.title.endsWith("renamed")) break;
}
