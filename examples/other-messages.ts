/* oxlint-disable no-console */
import { openHoldfast, user } from "../src/index.ts";
import { fromOpenAI, loadImages, storeImages, toAnthropic } from "../src/transfer/messages/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const chat = await holdfast.create({ title: "From one to the other" });

// A history that was kept elsewhere. What the model is told about itself is not part of a conversation.
const { system, messages } = fromOpenAI([
  { role: "system", content: "Be brief." },
  { role: "user", content: "What is in the folder?" },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "ls", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: "c1", content: "README.md" },
]);

// Images go beside the log, once each; the messages name them.
const kept = await storeImages(messages, chat);
await chat.append(kept.map((message) => ({ type: "message", message })));
await chat.append(user("And what does it say?"));

// The next request, for another vendor: every call has its result, and images their bytes.
const context = await chat.context();
const request = {
  system: system.join("\n"),
  messages: toAnthropic(await loadImages(context.messages, chat)),
};
console.log(request.messages.map(({ role }) => role).join(" "));
