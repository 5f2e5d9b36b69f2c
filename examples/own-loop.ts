/* oxlint-disable no-console */
import { openHoldfast, type Tool } from "../src/index.ts";
import { Agent } from "../src/agent/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const chat = await holdfast.create({ title: "Invoices" });

const sendEmail: Tool = {
  name: "send_email",
  description: "Sends an email",
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  // Undeclared, its effect is never repeated: a crash in the middle reads "outcome unknown", and it is not sent twice.
  async run(input, { idempotencyKey }) {
    return { content: `sent (${idempotencyKey.slice(0, 6)}…)`, state: { lastMail: input } };
  },
};

// "anthropic/claude-sonnet-5-5" with ANTHROPIC_API_KEY, or any model of the AI SDK; "sim" needs nothing.
await using agent = new Agent(holdfast, { model: "sim", tools: [sendEmail] });

const order = 'tool send_email {"to":"bob"}'; // what the simulated model understands
const asked = await agent.send(chat, order, {
  onEvent: (event) => event.type === "update" && event.event.type === "text" && console.log(event.event.text),
});
// "waiting": every effect needs your approval by default.
console.log(asked.outcome, asked.waiting);

// Any process may bring the answer, now or tomorrow, and the turn goes on where it stood.
const done = await agent.answer(chat, asked.waiting[0]?.request ?? "", "allowed", { by: "Ada" });
console.log(done.outcome, (await agent.restore(chat)).state);
