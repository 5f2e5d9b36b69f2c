/* oxlint-disable no-console */
import { openHoldfast, Runtime } from "../src/index.ts";
import { simUpstream, SimWorld } from "../src/testing/index.ts";

// The world behind the agent: it strikes in the middle of an email, then loses the agent's transcript.
const world = new SimWorld({ seed: 7 }).script(
  { kind: "crash", phase: "in_tool" },
  { kind: "lose", phase: "resume" },
);
await using holdfast = await openHoldfast({ store: "memory:" });
const runtime = new Runtime(holdfast, {
  upstreams: [simUpstream(world, { agent: "claude" })],
  clock: world.clock,
});
const chat = await holdfast.create({ title: "Rent" });

await runtime.send(chat, "remember color=blue");
const email = await runtime.send(chat, "email bob about rent");
console.log(email.outcome, email.class); // interrupted crashed

const recalled = await runtime.send(chat, "recall color");
const again = await runtime.send(chat, "email bob about rent");
console.log(recalled.text, world.outbox.count("email bob about rent"), again.text);
for (const link of await chat.chain()) console.log(link.agent, link.reason);
