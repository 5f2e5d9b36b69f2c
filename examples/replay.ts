/* oxlint-disable no-console */
import { openHoldfast, type Tool } from "../src/index.ts";
import { Agent, replay, type ReplayAgent } from "../src/agent/index.ts";

const sent: string[] = [];
const email: Tool = {
  name: "ComposeEmail",
  run: async (input) => {
    sent.push(JSON.stringify(input));
    return "Sent";
  },
  dryRun: async (input) => `Would send ${JSON.stringify(input)}`,
};

await using holdfast = await openHoldfast({ store: "memory:" });
const thread = await holdfast.create({ id: "thread" });
const agent: ReplayAgent = { tools: [email], permission: () => "allow", instructions: false };
await using production = new Agent(holdfast, { ...agent, model: "sim" });
await production.send(thread, 'tool ComposeEmail {"to":"a@example.org"}');
console.log(sent.length); // 1

// The same prompts to other models, each on a fork of its own. Nothing is sent.
const results = await replay(
  holdfast,
  { conversation: "thread" },
  {
    models: ["sim", "sim/other"],
    agent,
    onEvent: (event) => void (event.type === "turn" && console.log(event.number, event.divergence)),
  },
);
for (const { model, conversation, outcome, steps, calls, divergence } of results)
  console.log(model, conversation, outcome, steps, calls, divergence?.kind ?? "the same calls");
console.log(sent.length); // 1

// Every call is answered as it was in the original; no tool runs.
const [recorded] = await replay(
  holdfast,
  { conversation: "thread" },
  { models: ["sim"], agent, tools: "recorded" },
);
console.log(recorded?.missed); // []
