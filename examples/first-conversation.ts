/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";

await using holdfast = await openHoldfast({ store: "sqlite:chats.db" });

// The id is made once. Sessions, processes and models come and go under it.
const chat = await holdfast.create({ title: "Changelog", cwd: "/repo" });

// One call is one batch: on disk as a whole when it resolves, or not there at all.
await chat.append(
  [
    { type: "message", message: { role: "user", content: [{ type: "text", text: "Add a changelog" }] } },
    {
      type: "message",
      message: {
        role: "assistant",
        model: "example-1",
        content: [
          { type: "text", text: "Looking." },
          { type: "toolCall", id: "c1", name: "bash", input: { command: "ls" } },
        ],
      },
    },
  ],
  { key: "turn-1" }, // the same key again writes nothing, so a retry is harmless
);

// What the model is to be sent. The call has no result yet, so it gets one that says so.
const context = await chat.context();
console.log(context.model, context.messages.map((message) => message.role).join(" "));

await chat.append({
  type: "message",
  message: { role: "toolResult", toolCallId: "c1", content: [{ type: "text", text: "README.md" }] },
});
console.log((await chat.head()).headSeq, "entries");
