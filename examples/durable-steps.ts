/* oxlint-disable no-console */
import { openHoldfast, type Tool } from "../src/index.ts";
import { Agent, directSteps } from "../src/agent/index.ts";

await using holdfast = await openHoldfast({ store: "sqlite:durable.db" });
const chat = await holdfast.create({ title: "Invoices" });

const look: Tool = { name: "look", effect: "none", run: async () => "two are open" };
await using agent = new Agent(holdfast, { model: "sim", tools: [look] });

// A task has a name that is the same in every attempt: a trigger's id, a job's, a message's.
const attempt = () => agent.send(chat, "tool look {}", { steps: directSteps("invoices-17") });

const first = await attempt();
const { outputTokens } = await chat.usage();

// Whoever calls once more, after a crash or because a queue delivered twice, gets the same turn: no model is asked, no tool runs.
const again = await attempt();
console.log(again.turn === first.turn, again.text);
console.log((await chat.usage()).outputTokens === outputTokens);
