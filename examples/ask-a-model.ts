/* oxlint-disable no-console */
import { openHoldfast, user } from "../src/index.ts";
import { askModel, openModel } from "../src/agent/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const chat = await holdfast.create();
await chat.append(user("remember colour=green"));

// "anthropic/claude-sonnet-5-5", "openai/gpt-5", … with a key; `sim` needs nothing.
const model = await openModel("sim");
const request = {
  system: "Be brief.",
  tools: [],
  messages: (await chat.context()).messages,
  reminder: `Today is ${new Date().toDateString()}.`,
  cacheKey: chat.id,
};
const { answer, ending } = await askModel(model, request, {
  signal: AbortSignal.timeout(60_000),
  silenceMs: 30_000,
  onEvent: (event) => {
    if (event.type === "text") process.stdout.write(event.text);
  },
});
if (answer === null) throw new Error(`${ending.class}: ${ending.message}`);

// Everything the provider wants back goes into the log with the answer.
const { content, usage } = answer;
const more = usage === null ? {} : { usage };
await chat.append({
  type: "message",
  message: { role: "assistant", content, model: model.id, ...more },
});
console.log("\nused:", usage);
