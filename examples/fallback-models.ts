/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";
import { Agent } from "../src/agent/index.ts";

// A model of a service that is overloaded just now.
const busy = {
  specificationVersion: "v4",
  provider: "example",
  modelId: "busy",
  doStream: async () => {
    throw Object.assign(new Error("Overloaded"), { statusCode: 529 });
  },
};

await using holdfast = await openHoldfast({ store: "memory:" });
await using agent = new Agent(holdfast, { model: busy, fallbackModels: ["sim"] });
const chat = await holdfast.create();
const answered = await agent.send(chat, "remember a=1");
console.log(answered.model, answered.text); // sim Noted a=1
for (const fact of await chat.facts(["attempt"])) if (fact.type === "attempt") console.log(fact.model);
