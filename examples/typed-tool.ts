/* oxlint-disable no-console */
import { z } from "zod";
import { openHoldfast } from "../src/index.ts";
import { Agent, tool } from "../src/agent/index.ts";

const sendEmail = tool({
  name: "send_email",
  description: "Sends an email",
  input: z.object({ to: z.string(), copies: z.number().default(1) }),
  // `to` is a string and `copies` a number: what the schema makes of the model's input.
  run: async ({ to, copies }) => `Sent ${copies} to ${to}`,
});

await using holdfast = await openHoldfast({ store: "memory:" });
await using agent = new Agent(holdfast, { model: "sim", tools: [sendEmail], permission: () => "allow" });
const chat = await holdfast.create();
const { text } = await agent.send(chat, 'tool send_email {"to":"bob"}', {
  signal: AbortSignal.timeout(60_000),
});
console.log(text); // Done: Sent 1 to bob
